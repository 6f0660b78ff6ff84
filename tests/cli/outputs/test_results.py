"""Impossible results of a backend: refused by fit and run, and never printed."""

import json
import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import BAD_PLUGINS, IRIS, SANITIZED, TestCase, run

OPTION = ["--plugin-dir", BAD_PLUGINS / "garbage"]
# Falsified result -> beginning of the message.
GARBAGE = {
    "sum_form": "its form of sums is 7, where 0 to 2 are known",
    "negative-sum_form": "its form of sums is -1, where 0 to 2 are known",
    "distances": "it reports -5 distances, where 0 to ",
    "huge-distances": "it reports 9223372036854775807 distances, where 0 to ",
    "relocations": "it reports -1 relocations, where 0 to ",
    "huge-relocations": "it reports 9223372036854775807 relocations, where 0 to ",
    "fallbacks": "it reports 9223372036854775807 exact fallbacks, where 0 to ",
    "nan-phase": "the phase 'update' is nan ms",
    "infinite-phase": "the phase 'transfer' is inf ms",
    "long-phase": "the phase 'assignment' is 1000000000 ms",
    "nan-loop": "the loop's time is nan ms",
    "negative-loop": "the loop's time is -1 ms",
    "infinite-closing": "the closing assignment's time is inf ms",
    "nan-inertia": "the inertia is nan",
    "negative-inertia": "the inertia is -1",
    "iterations": "it reports 301 iterations, where 1 to 300 are possible",
    "stop_reason": "its stop reason is 9",
    "distant-centroids": "centroid 0, feature 0 is 1000000, where samples reach from 4.3",
    "valid": "it ended without all of its results",
    # Found by recomputing with the definition.
    "half-inertia": "it reports an inertia of ",
    "rotated-labels": "it reports an inertia of ",
    "moved-centroids": "it reports an inertia of ",
    "one-wrong-label": "it states exact labels, but that of sample 0 is ",
}
# Changed input, with which the result agrees -> text in the message.
CHANGED = {
    "changes-samples": "samples",
    "unprotects-samples": "samples",
    "changes-statistics": "statistics of the features",
    "changes-centroids": "initial centroids",
}
# Falsified result of a pass over a block of rows.
PARTIAL = {
    "partial-changed": "a partial pass: it reports 0 changed labels, but ",
    "partial-huge-changed": "a partial pass: it reports 9223372036854775807 changed labels, where 0 to ",
    "partial-label": "a partial pass: the label of sample 0 is 77, with 3 clusters",
    "partial-count": "a partial pass: the count of cluster 0 is ",
    "partial-moved-count": "a partial pass: the count of cluster 0 is ",
    "partial-negative-count": "a partial pass: the count of cluster 0 is -5, but ",
    "partial-huge-sum": "a partial pass: the sum of cluster 0, feature 0 is ",
    "partial-sum": "a partial pass: the sum of cluster 0, feature 0 is ",
    "partial-form": "a partial pass returned sums of another form",
    "partial-far": "a partial pass: it reports 9223372036854775807 far samples, where 0 to 0 are possible",
    "changes-centroids": "the plugin changed the centroids, which it may only read",
}
# Falsified iteration records.
RECORDS = {
    "record-iteration": "it tells an observer that iteration 1 had the number 0",
    "record-changed": "it tells an observer that iteration 1 had so many changed labels: -1",
    "record-unchanged": "it tells an observer that iteration 1 changed 0 labels, where all 150 are new",
    "record-hidden": "it tells an observer that iteration 2 changed 0 labels, but moved the centroids (shift ",
    "record-relocations": "it tells an observer that iteration 1 had so many relocations: ",
    "record-shift": "it tells an observer that iteration 1 had a shift of nan",
    "record-elapsed": "it tells an observer that iteration 1 had ended after so many milliseconds: ",
}
# Falsified iteration records of a replay.
REPLAYS = {
    "no-labels": "it reports no labels or centroids to an observer, which a replay needs",
    "no-centroids": "it reports no labels or centroids to an observer, which a replay needs",
    "label-77": "it tells an observer that iteration 1 had the label 77",
    "nan-centroids": "it tells an observer that iteration 1 had a centroid with the value nan",
}
CONFIG = """
experiment: garbage
dataset: {file: IRIS}
clusters: 3
backends: [garbage]
repeats: 1
isolate: MODE
trace: TRACE
output: OUTPUT
"""


class Results(TestCase):
    def check_fit(self, what, sentence, *options):
        output = self.folder / "results"
        done = run(*OPTION, "fit", IRIS, "-k", "3", "--backend", "garbage", "--output", output, *options,
                   status=1, env={"LLOYD_GARBAGE": what})
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, rf"^lloyd: garbage: {re.escape(sentence)}[^\n]*\n$")
        self.assertEqual(os.listdir(output), [])

    def run_experiment(self, what, mode="worker", trace="false", status=1):
        output = self.folder / "out"
        text = CONFIG.replace("IRIS", f"'{IRIS}'").replace("MODE", mode).replace("TRACE", trace)
        config = self.write("config.yaml", text.replace("OUTPUT", str(output)))
        done = run(*OPTION, "run", config, status=status, env={"LLOYD_GARBAGE": what})
        text = (output / "records.jsonl").read_text()
        (output / "records.jsonl").unlink()
        return json.loads(text), done

    def test_fit_refuses_what_cannot_be(self):
        for what, sentence in (GARBAGE | RECORDS).items():
            with self.subTest(what):
                self.check_fit(what, sentence)
        self.check_fit("half-inertia", GARBAGE["half-inertia"], "--json")

    def test_fit_refuses_claims_that_contradict_the_request(self):
        self.check_fit("false-limit", "it states that it stopped at the limit of 300 iterations, and reports 2")
        self.check_fit("false-tolerance", "it states that it stopped within the tolerance, and none was given",
                       "--tolerance", "0")
        self.check_fit("unobserved-iterations", "it reports ")

    def test_fit_and_predict_refuse_changed_inputs(self):
        model = self.folder / "model.json"
        run("fit", IRIS, "-k", "3", "--backend", "sequential", "--model", model)
        mapped = self.folder / "iris.npy"
        run("data", "convert", IRIS, mapped)
        for what, name in CHANGED.items():
            with self.subTest(what):
                sentence = f"the plugin changed the {name}, which it may only read"
                self.check_fit(what, sentence)
                self.check_fit(what, sentence, "--restarts", "2")
                done = run(*OPTION, "predict", model, IRIS, "--backend", "garbage", status=1,
                           env={"LLOYD_GARBAGE": what})
                self.assertEqual((done.stdout, done.stderr), (
                    "", f"lloyd: garbage: {sentence.replace('initial ', '')}\n"))
                record, _ = self.run_experiment(what, "none")
                self.assertEqual(record["reason"], f"garbage: {sentence}")
        # The result of the first restart, which is kept because the second is worse.
        self.check_fit("changes-earlier-counts", "the count of cluster 0 is ",
                       "--seeding", "random", "--seed", "1", "--restarts", "2")
        done = run(*OPTION, "fit", mapped, "-k", "3", "--backend", "garbage", status=1,
                   env={"LLOYD_GARBAGE": "unprotects-samples"})
        self.assertEqual((done.stdout, done.stderr), (
            "", "lloyd: garbage: the plugin changed the samples, which it may only read\n"))
        self.check_write_to_protected_samples(mapped)

    def check_write_to_protected_samples(self, mapped):
        """A file that is mapped, and the memory that a worker shares, cannot be written to."""
        ended = r"signal \d+ \([^)]*\)"
        done = run(*OPTION, "fit", mapped, "-k", "3", "--backend", "garbage", status=1,
                   env={"LLOYD_GARBAGE": "changes-samples"})
        self.assertRegex(done.stderr, rf"(?m)^lloyd: the backend 'garbage' ended the process in fit\(\): {ended}, since the plugin "
                                      r"wrote to the samples, which it may only read$")
        if SANITIZED:  # the last words are those of the sanitizer
            return
        record, _ = self.run_experiment("changes-samples")
        self.assertRegex(record["reason"], rf"^the plugin ended its process in fit\(\): {ended}; last words: the plugin wrote to "
                                           r"the samples, which it may only read")

    def test_a_fit_in_blocks_refuses_what_cannot_be(self):
        data = self.folder / "data.npy"
        run("data", "blobs", data, "--samples", "20000", "--features", "40", "--centers", "3")
        fit = ["fit", data, "-k", "3", "--backend", "garbage", "--seeding", "first", "--memory-limit", "34MiB"]
        for what in ("", "partial-no-labels"):
            done = run(*OPTION, *fit, env={"LLOYD_GARBAGE": what})
            self.assertIn("read in blocks", done.stderr)
        for what, sentence in PARTIAL.items():
            with self.subTest(what):
                done = run(*OPTION, *fit, status=1, env={"LLOYD_GARBAGE": what})
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, rf"\nlloyd: garbage: {re.escape(sentence)}[^\n]*\n$")

    def test_devices_that_cannot_be_are_refused(self):
        for what, sentence in {
                "device-count": "17 devices, where 0 to 16 are possible",
                "device-kind": "a device of kind 7 with 0 bytes of memory, where kinds 0 and 1 and no "
                               "negative number are known",
                "device-memory": "a device of kind 0 with -1 bytes of memory, where kinds 0 and 1 and "
                                 "no negative number are known"}.items():
            done = run(*OPTION, "fit", IRIS, "-k", "3", "--backend", "garbage", status=2,
                       env={"LLOYD_GARBAGE": what})
            self.assertEqual((done.stdout, done.stderr), (
                "", f"lloyd: {BAD_PLUGINS}/garbage/lloyd_garbage.so: its probe() reports {sentence}\n"))

    def test_run_refuses_the_same(self):
        for what, sentence in GARBAGE.items():
            with self.subTest(what):
                record, _ = self.run_experiment(what)
                self.assertEqual(record["status"], "failed")
                if what == "iterations":  # from the untimed fit of one iteration
                    sentence = "it reports 2 iterations, where 1 to 1 are possible"
                if what != "one-wrong-label":
                    self.assertTrue(record["reason"].startswith(f"garbage: {sentence}"),
                                    record["reason"])
                self.assertIsNone(record["inertia"])
        record, _ = self.run_experiment("half-inertia", "none")
        self.assertTrue(record["reason"].startswith("garbage: it reports an inertia of "))

    def test_a_false_result_of_a_later_repeat_fails(self):
        config = self.write("repeats.yaml", f"dataset: {{file: '{IRIS}'}}\nclusters: 3\nbackends: [garbage]\nrepeats: 3\n"
                                            f"output: {self.folder / 'out'}\n")
        # The first fit is the untimed warm-up.
        run(*OPTION, "run", config, status=1, env={"LLOYD_GARBAGE": "false-third-fit"})
        records = [json.loads(line) for line in (self.folder / "out" / "records.jsonl").read_text().splitlines()]
        self.assertEqual([record["status"] for record in records], ["ok", "failed", "ok"])
        self.assertRegex(records[1]["reason"], r"^the inertia is 12, but that of an earlier repeat was [0-9.]+; the "
                                               r"backend states the reproducibility 'canonical'$")

    def test_garbage_for_an_observer_leaves_no_trace(self):
        for what, sentence in RECORDS.items():
            with self.subTest(what):
                record, done = self.run_experiment(what, trace="true", status=0)
                self.assertEqual(record["status"], "ok")
                self.assertNotIn("trace", record)
                self.assertIn(f"garbage: {sentence}", done.stderr)
        for what, sentence in REPLAYS.items():
            with self.subTest(what):
                record, done = self.run_experiment(what, trace="true", status=0)
                self.assertEqual(record["status"], "ok")
                self.assertNotIn("trace", record)
                self.assertIn(sentence, done.stderr)

    def test_how_much_was_checked_is_reported(self):
        done = run(*OPTION, "fit", IRIS, "-k", "3", "--backend", "garbage")
        self.assertIn("\nchecked     inertia, and all 150 labels by the definition (", done.stdout)
        done = run(*OPTION, "fit", IRIS, "-k", "3", "--backend", "garbage", "--json")
        expected = {"samples": 150, "wrong_labels": 0, "worst_ratio": 1.0}
        self.assertEqual(json.loads(done.stdout)["check"], expected)
        record, _ = self.run_experiment("", status=0)
        self.assertEqual(record["check"], expected)

    def test_of_many_values_a_sample_is_checked(self):
        data = self.folder / "data.npy"
        run("data", "blobs", data, "--samples", "20000", "--features", "40")
        fit = ["fit", data, "-k", "50", "--iterations", "1", "--backend", "sequential"]
        self.assertIn("\nchecked     inertia, and 8388 of 20000 labels by the definition (",
                      run(*fit).stdout)
        # The same for data that is read in blocks.
        limited = run(*fit, "--json", "--memory-limit", "34MiB")
        self.assertIn("read in blocks", limited.stderr)
        self.assertEqual(json.loads(limited.stdout)["check"],
                         {"samples": 8388, "wrong_labels": 0, "worst_ratio": 1.0})


if __name__ == "__main__":
    unittest.main()
