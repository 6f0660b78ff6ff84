"""`lloyd run --resume` completes a run that was killed or interrupted."""

import csv
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import BAD_PLUGINS, IRIS, LLOYD, run
from resume_case import TRIALS, ResumeCase, trial

CPU = min(os.sched_getaffinity(0))


class Killed(ResumeCase):
    def config(self, **replacements):
        # Trials that take longer than one poll of the record file.
        return super().config(**{"iterations: 40": "iterations: 200", **replacements})

    def whole(self):
        """The outcomes of an undisturbed run."""
        run("run", self.config())
        outcomes = self.outcomes()
        self.assertEqual(len(outcomes), TRIALS)
        shutil.rmtree(self.output)
        return outcomes

    def wait_for(self, process, count, seconds=math.inf):
        """Waits for this many lines, the end of the process, or the time limit."""
        deadline = time.monotonic() + seconds
        while process.poll() is None and len(self.lines()) < count and time.monotonic() < deadline:
            time.sleep(0.001)

    def test_sixty_trials_killed_at_twenty_moments_are_sixty_records(self):
        whole = self.whole()
        moments = random.Random(20)
        most = TRIALS - 10  # leaves trials to the rounds that follow
        for _ in range(20):
            process = subprocess.Popen([LLOYD, "run", str(self.config()), "--resume"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # Some runs are killed before their first record, while they start, read or plan.
            more = moments.choice([0, 1, 2])
            wanted = len(self.lines()) + more
            self.wait_for(process, wanted)
            # At a random moment, but early enough that the resumed runs do not complete all trials on a fast machine.
            self.wait_for(process, wanted + 1, moments.uniform(0, 0.02 if more else 0.1))
            process.kill()
            # If this process was not scheduled for long, the run is complete before it is killed.
            if process.wait(timeout=60) == 0:
                self.assertEqual(len(self.lines()), TRIALS)
            else:
                self.assertEqual(process.returncode, -signal.SIGKILL)
            if len(self.lines()) > most:
                self.keep_lines(most)
        self.assertGreater(len(self.lines()), 10)  # no run was lost completely
        self.assertLess(len(self.lines()), TRIALS)
        last = run("run", self.config(), "--resume")
        self.assertRegex(last.stderr, r"resuming the run \S+ in .+: \d+ of 60 trials left")
        self.assert_same_outcomes(whole, self.outcomes())
        runs = {json.loads(line)["run"] for line in self.lines()}
        self.assertEqual(len(runs), 1)
        self.assertEqual(len(self.lines()), TRIALS)
        table = last.stdout[:last.stdout.index("\nrecords: ")]
        self.assertEqual(run("report", self.output).stdout, table)
        self.assertEqual(len((self.output / "summary.csv").read_text().splitlines()), 7)

    def test_a_file_cut_anywhere_is_completed(self):
        short = {"repeats": "repeats: 2 #", "iterations: 40": "iterations: 2"}
        run("run", self.config(**short))
        whole, data = self.outcomes(), self.records.read_bytes()
        for cut in random.Random(7).sample(range(len(data)), 8) + [1, len(data) - 1]:
            with self.subTest(bytes=cut):
                self.records.write_bytes(data[:cut])
                run("run", self.config(**short), "--resume")
                self.assert_same_outcomes(whole, self.outcomes())


SMALL = """
experiment: small
dataset: {blobs: {samples: 300}}
clusters: 3
backends: [sequential, openmp: {threads: [1, 2]}]
repeats: 3
output: OUTPUT
"""


class Resume(ResumeCase):
    def resume(self, *arguments, status=0, **replacements):
        return run("run", self.config(SMALL, **replacements), "--resume", *arguments,
                   status=status)

    def test_a_complete_run_has_nothing_left(self):
        first = run("run", self.config(SMALL))
        data = self.records.read_bytes()
        (self.output / "summary.csv").unlink()
        again = self.resume()
        self.assertIn("is complete: nothing is left to do", again.stderr)
        self.assertEqual(again.stdout, first.stdout)
        self.assertEqual(self.records.read_bytes(), data)
        self.assertTrue((self.output / "summary.csv").exists())

    def test_without_records_a_new_run_begins(self):
        self.assertIn("has no run of 'small' to resume; starting a new one", self.resume().stderr)
        other = self.resume(**{"experiment: small": "experiment: other"})
        self.assertIn("has no run of 'other' to resume", other.stderr)
        self.assertEqual(len({json.loads(line)["run"] for line in self.lines()}), 2)

    def test_a_new_run_says_that_an_old_one_could_be_resumed(self):
        run("run", self.config(SMALL))
        self.assertNotIn("--resume", run("run", self.config(SMALL)).stderr)
        self.keep_lines(13)  # 4 of them belong to the second run
        name = json.loads(self.lines()[-1])["run"]
        said = run("run", self.config(SMALL)).stderr
        self.assertIn(f"starting a new run; the run {name} in {self.output} has 5 of 9 trials left, "
                      "which --resume would run", said)
        self.keep_lines(13)
        self.resume()
        self.assertEqual(sum(json.loads(line)["run"] == name for line in self.lines()), 9)

    def test_an_interrupted_run_is_finished_and_each_trial_counts_once(self):
        config = self.config()
        process = subprocess.Popen([LLOYD, "run", str(config)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        while process.poll() is None and len(self.lines()) < 4:
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)
        self.assertIn("cancelled", run("report", self.output).stdout)
        resumed = run("run", config, "--resume", "--json").stdout
        self.assertEqual(len(self.outcomes()), TRIALS)
        rows = json.loads(resumed)["rows"]
        self.assertEqual([row["trials"] for row in rows], [10] * 6)
        self.assertEqual(run("report", self.output, "--json").stdout, resumed)

    def test_what_changed_is_named_and_nothing_is_run(self):
        run("run", self.config(SMALL))
        self.keep_lines(4)
        for replacement, difference in (
                ({"repeats: 3": "repeats: 2"}, "'repeats' was 3 and is 2"),
                ({"samples: 300": "samples: 301"}, "'dataset.samples' was 300 and is 301"),
                ({"clusters: 3": "clusters: 4"}, "'clusters' was 3 and is 4"),
                ({"clusters: 3": "seeding: random"}, "'clusters' was 3 and is 8"),
                ({"clusters: 3": "clusters: 3\nseeding: {seed: 5}"},
                 "'seeding.seed' was 0 and is 5"),
                ({"clusters: 3": "clusters: 3\nbaseline: sequential"},
                 "'baseline' was not there and is 'sequential'"),
                ({"clusters: 3": "sweep: {clusters: [3]}"},
                 "'axes.clusters' was not there and is '3'"),
                ({"clusters: 3": "sweep: {clusters: [3, 4]}"},
                 "it had 1 setting and the experiment has 2 (only repeats can be added to a run; "
                 "'lloyd history FOLDER...' shows the rows of several runs together)"),
                ({"clusters: 3": "clusters: 3\nsilhouette: true"}, "'silhouette' was false and is true"),
                ({"clusters: 3": "clusters: 3\ncounters: true"}, "'counters' was false and is true"),
                ({"clusters: 3": "clusters: 3\nchecks: {samples: 5}"}, "'checks.samples' was 0 and is 5"),
                ({"repeats: 3": "repeats: 3\nisolate: none"},
                 "'isolate' was 'worker' and is 'none'"),
                ({"repeats: 3": f"repeats: 3\ncpus: {CPU}"},
                 f"'cpus' was not there and is '{CPU}'"),
                ({"[1, 2]": "[1, 2, 3]"},
                 "it had 3 variants of backends and the experiment has 4"),
                ({"sequential": "sequential: {layout: soa}"},
                 "'backend.parameters.layout' was 'aos' and is 'soa' (sequential)")):
            with self.subTest(difference=difference):
                said = self.resume(status=2, **replacement).stderr
                self.assertRegex(said, r"^lloyd: the run \S+ in .+ cannot be resumed, as ")
                self.assertIn(difference, said)
                self.assertEqual(said.count("\n"), 1)
                self.assertEqual(len(self.lines()), 4)

    def test_what_was_not_come_to_is_compared_too(self):
        run("run", self.config(SMALL))
        self.keep_lines(1)
        self.assertIn("it had other settings or backends among those that it did not reach",
                      self.resume(status=2, **{"[1, 2]": "[1, 4]"}).stderr)

    def test_a_difference_is_named_whichever_record_has_it(self):
        single = {"[1, 2]": "1"}
        run("run", self.config(SMALL, **single))
        self.keep_lines(4)
        self.assertIn("'backend.parameters.threads' was 1 and is 2 (openmp)",
                      self.resume(status=2, **{"[1, 2]": "2"}).stderr)

    def test_another_machine_version_or_data_file_is_refused(self):
        data = self.write("iris.csv", IRIS.read_bytes())
        replacement = {"blobs: {samples: 300}": f"file: '{data}'"}
        run("run", self.config(SMALL, **replacement))
        self.keep_lines(4)
        lines = self.lines()
        for old, new, difference in (
                (rb'("machine":{"cpu":)"[^"]*"', rb'\1"a processor"',
                 "'machine.cpu' was 'a processor' and is"),
                (rb'("version":)"[^"]*"', rb'\1"9.9"', "'backend.version' was '9.9' and is")):
            self.records.write_bytes(re.sub(old, new, b"".join(lines)))
            self.assertIn(difference, self.resume(status=2, **replacement).stderr)
        self.records.write_bytes(b"".join(lines))
        data.write_bytes(data.read_bytes().replace(b"5.1", b"5.2", 1))
        self.assertIn("'dataset.fingerprint' was",
                      self.resume(status=2, **replacement).stderr)
        shutil.copy(IRIS, data)
        self.resume(**replacement)
        self.assertEqual(len(self.outcomes()), 9)

    def test_a_plugin_that_came_or_went_is_refused(self):
        config = self.config(SMALL.replace("[sequential,", "[fit-throws,")
                             .replace("repeats: 3", "repeats: 3\noptional: [fit-throws]"))
        folder = ["--plugin-dir", BAD_PLUGINS / "fit-throws"]
        run("run", config)
        self.assertEqual(json.loads(self.lines()[0])["status"], "skipped")
        self.keep_lines(4)
        said = run(*folder, "run", config, "--resume", status=2).stderr
        self.assertIn("it was skipped (no plugin of this name can be loaded) and would be run now "
                      "(fit-throws)", said)
        run("run", config, "--resume")
        self.assertEqual(len(self.outcomes()), 7)
        shutil.rmtree(self.output)
        run(*folder, "run", config, status=1)
        self.keep_lines(4)
        self.assertIn("it was to be run and would be skipped now: no plugin of this name can be loaded",
                      run("run", config, "--resume", status=2).stderr)

    def test_a_run_of_an_earlier_version_can_be_resumed(self):
        # Versions before order_seed and until wrote a hash that does not cover these; still earlier ones wrote none.
        for lacking in ((), ("hash",)):
            with self.subTest(lacking=lacking):
                run("run", self.config(SMALL))
                old = []
                for line in self.lines()[:4]:
                    record = json.loads(line)
                    for key in ("process", "conditions", "order", "isolate", "timeout",
                                "memory_limit", "cpus"):
                        del record[key]
                    record["plan"]["hash"] = "0123456789abcdef"
                    for key in ("until", "order_seed", *lacking):
                        del record["plan"][key]
                    record["machine"] = {key: record["machine"][key] for key in
                                         ("cpu", "cores", "memory_bytes", "os", "compiler",
                                          "lloyd")}
                    old.append(json.dumps(record) + "\n")
                self.records.write_text("".join(old))
                self.assertIn("5 of 9 trials left", self.resume().stderr)
                self.assertEqual(len(self.outcomes()), 9)
                shutil.rmtree(self.output)

    def test_failures_are_kept_unless_they_are_to_be_made_again(self):
        config = SMALL.replace("[sequential,", "[fit-throws,").replace("repeats: 3", "repeats: 2")
        arguments = ["--plugin-dir", BAD_PLUGINS / "fit-throws", "run", self.config(config)]
        run(*arguments, status=1)
        failed = [json.loads(line) for line in self.lines()]
        self.assertEqual(sum(record["status"] == "failed" for record in failed), 2)
        self.keep_lines(3)
        run(*arguments, "--resume", status=1)
        self.assertEqual(len(self.outcomes()), 6)
        before = self.records.read_bytes()
        complete = run(*arguments, "--resume", status=1).stderr
        self.assertIn("nothing is left to do; 2 trials failed or timed out, and --retry-failed runs them again\n", complete)
        self.assertEqual(self.records.read_bytes(), before)
        again = run(*arguments, "--resume", "--retry-failed", status=1)
        self.assertIn("2 of 6 trials left\n", again.stderr)
        self.assertEqual(len(self.lines()), 8)
        table = again.stdout[:again.stdout.index("\nrecords: ")]
        self.assertEqual(run("report", self.output).stdout, table)

    def test_an_extended_run_is_resumed_before_an_older_complete_one(self):
        run("run", self.config(SMALL))
        run("run", self.config(SMALL))
        newest = json.loads(self.lines()[-1])["run"]
        run("run", self.config(SMALL), "--repeats", 5, "--resume")
        whole = self.outcomes_of(newest)
        self.assertEqual(len(whole), 15)
        data = self.records.read_bytes()
        complete = self.resume().stderr
        self.assertIn(f"the run {newest} in {self.output}, extended to 5 repeats, is complete", complete)
        self.assertEqual(self.records.read_bytes(), data)
        self.keep_lines(len(self.lines()) - 2)
        copy = shutil.copytree(self.output, self.folder / "copy")
        self.assertIn(f"the run {newest} in {copy} has 2 of 15 trials left",
                      run("run", self.config(SMALL), "--output", copy).stderr)
        self.assertIn(f"resuming the run {newest} in {self.output}, extended to 5 repeats: 2 of 15 trials left",
                      self.resume().stderr)
        self.assert_same_outcomes(whole, self.outcomes_of(newest))
        with open(self.output / "summary.csv", newline="") as summary:
            self.assertEqual([row["trials"] for row in csv.DictReader(summary)], ["5"] * 3)

    def test_fewer_repeats_than_an_extended_run_has_are_refused_with_its_number(self):
        run("run", self.config(SMALL))
        run("run", self.config(SMALL), "--repeats", 5, "--resume")
        data = self.records.read_bytes()
        for said in (self.resume("--repeats", 4, status=2).stderr,
                     self.resume(status=2, **{"repeats: 3": "repeats: 2"}).stderr):
            self.assertRegex(said, r"cannot be resumed, as 'repeats' was 5 and is [24]; --repeats 5 resumes it, "
                                   "and without --resume a new run begins\n$")
        self.assertEqual(self.records.read_bytes(), data)

    def outcomes_of(self, name):
        """The outcomes of one of the runs in the file."""
        records = [json.loads(line) for line in self.lines()]
        return {trial(record): record for record in records if record["run"] == name}

    def test_retry_needs_resume(self):
        self.assertIn("--resume", run("run", self.config(SMALL), "--retry-failed", status=2).stderr)


class Concurrent(ResumeCase):
    def test_a_second_run_into_a_folder_is_refused_at_once(self):
        config = self.config(repeats="repeats: 100000 #")
        process = subprocess.Popen([LLOYD, "run", str(config)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        while process.poll() is None and not self.lines():
            time.sleep(0.005)
        # The check comes before any data is read: this experiment's file does not exist.
        absent = self.write("absent.yaml", "{dataset: {file: none.npy}, backends: [sequential], "
                                           f"output: '{self.output}'}}")
        for other in (config, absent):
            for arguments in ((), ("--resume",)):
                said = run("run", other, *arguments, status=2).stderr
                self.assertEqual(said, f"lloyd: another run is writing to {self.output}: wait "
                                       "until it ends, or give another folder with --output\n")
        self.assertIn("trials", run("run", config, "--dry-run").stdout)
        self.assertIsNone(process.poll())


if __name__ == "__main__":
    unittest.main()
