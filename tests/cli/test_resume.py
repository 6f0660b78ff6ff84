"""`lloyd run --resume` finishes what a run left that was killed, interrupted or met a full disk."""

import json
import random
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

from program import BAD_PLUGINS, IRIS, LLOYD, TestCase, run

CONFIG = """
experiment: resumed
dataset:
  blobs: {samples: 20000, features: 4, centers: 8, seed: 1}
clusters: 8
stop: {iterations: 40}
backends: [sequential, openmp: {threads: [1, 2]}]
baseline: sequential
repeats: 10
sweep: {seeding.seed: [1, 2]}
output: OUTPUT
"""
TRIALS = 60


def without_times(record):
    """What must be the same whenever and however often a trial is made."""
    moving = ("run", "time", "machine", "process", "conditions", "phase_ms")
    kept = {key: value for key, value in record.items()
            if key not in moving and not key.endswith("_ms")}
    kept["seeding"] = {key: value for key, value in record["seeding"].items() if key != "ms"}
    return kept


def trial(record):
    return record["plan"]["setting"], record["plan"]["variant"], record["repeat"]


class ResumeCase(TestCase):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "results"
        self.records = self.output / "records.jsonl"

    def config(self, text=CONFIG, **replacements):
        for old, new in replacements.items():
            text = text.replace(old, new)
        return self.write("config.yaml", text.replace("OUTPUT", str(self.output)))

    def lines(self):
        data = self.records.read_bytes() if self.records.exists() else b""
        return data.splitlines(keepends=True)

    def outcomes(self):
        """The records that are outcomes, by trial; fails where a trial has two."""
        found = {}
        for line in self.lines():
            record = json.loads(line)
            if record["status"] != "cancelled":
                self.assertNotIn(trial(record), found)
                found[trial(record)] = record
        return found

    def assert_same_outcomes(self, whole, resumed):
        self.assertEqual(sorted(resumed), sorted(whole))
        for place, record in whole.items():
            self.assertEqual(without_times(resumed[place]), without_times(record))

    def keep_lines(self, count):
        """Leaves so many records, as a run that was killed would."""
        lines = self.lines()
        self.assertGreater(len(lines), count)
        self.records.write_bytes(b"".join(lines[:count]))


class Killed(ResumeCase):
    def whole(self):
        """The outcomes of a run that nothing disturbs."""
        run("run", self.config())
        outcomes = self.outcomes()
        self.assertEqual(len(outcomes), TRIALS)
        shutil.rmtree(self.output)
        return outcomes

    def wait_for(self, process, count):
        """Until there are so many lines more, or the process has ended."""
        while process.poll() is None and len(self.lines()) < count:
            time.sleep(0.001)

    def test_sixty_trials_killed_at_twenty_moments_are_sixty_records(self):
        whole = self.whole()
        moments = random.Random(20)
        kills = 0
        for _ in range(20):
            process = subprocess.Popen([LLOYD, "run", str(self.config()), "--resume"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # Some are killed before their first record, while they start, read or plan.
            more = moments.choice([0, 1, 2])
            self.wait_for(process, len(self.lines()) + more if more else 0)
            time.sleep(moments.uniform(0, 0.02 if more else 0.1))
            process.kill()
            kills += process.wait(timeout=60) == -signal.SIGKILL
        self.assertEqual(kills, 20)
        self.assertLess(len(self.lines()), TRIALS)
        last = run("run", self.config(), "--resume")
        self.assertRegex(last.stderr, r"resuming the run \S+ in \S+: \d+ of 60 trials left")
        self.assert_same_outcomes(whole, self.outcomes())
        runs = {json.loads(line)["run"] for line in self.lines()}
        self.assertEqual(len(runs), 1)
        self.assertEqual(len(self.lines()), TRIALS)
        table = last.stdout[:last.stdout.index("\nrecords: ")]
        self.assertEqual(run("report", self.output).stdout, table)
        self.assertEqual(len((self.output / "summary.csv").read_text().splitlines()), 7)

    def test_a_file_cut_anywhere_is_completed(self):
        run("run", self.config(repeats="repeats: 2 #"))
        whole, data = self.outcomes(), self.records.read_bytes()
        for cut in random.Random(7).sample(range(len(data)), 8) + [1, len(data) - 1]:
            with self.subTest(bytes=cut):
                self.records.write_bytes(data[:cut])
                run("run", self.config(repeats="repeats: 2 #"), "--resume")
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
        self.assertIn("holds no run of 'small' to resume: a new one begins", self.resume().stderr)
        other = self.resume(**{"experiment: small": "experiment: other"})
        self.assertIn("holds no run of 'other' to resume", other.stderr)
        self.assertEqual(len({json.loads(line)["run"] for line in self.lines()}), 2)

    def test_a_new_run_says_that_an_old_one_could_be_resumed(self):
        run("run", self.config(SMALL))
        self.assertNotIn("--resume", run("run", self.config(SMALL)).stderr)
        self.keep_lines(13)  # 4 of the second run
        name = json.loads(self.lines()[-1])["run"]
        said = run("run", self.config(SMALL)).stderr
        self.assertIn(f"a new run begins; the run {name} in {self.output} has 5 of 9 trials left, "
                      "which --resume would make", said)
        self.keep_lines(13)
        self.resume()
        self.assertEqual(sum(json.loads(line)["run"] == name for line in self.lines()), 9)

    def test_an_interrupted_run_is_finished_and_each_trial_counts_once(self):
        config = self.config(CONFIG)
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
                ({"repeats: 3": "repeats: 4"}, "'repeats' was 3 and is 4"),
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
                 "it had 1 setting and the experiment has 2"),
                ({"[1, 2]": "[1, 2, 3]"},
                 "it had 3 variants of backends and the experiment has 4"),
                ({"sequential": "sequential: {layout: soa}"},
                 "'backend.parameters.layout' was 'aos' and is 'soa' (sequential)")):
            with self.subTest(difference=difference):
                said = self.resume(status=2, **replacement).stderr
                self.assertRegex(said, r"^lloyd: the run \S+ in \S+ cannot be resumed, as ")
                self.assertIn(difference, said)
                self.assertEqual(said.count("\n"), 1)
                self.assertEqual(len(self.lines()), 4)

    def test_what_was_not_come_to_is_compared_too(self):
        run("run", self.config(SMALL))
        self.keep_lines(1)
        self.assertIn("it had other settings or backends among those that it did not come to",
                      self.resume(status=2, **{"[1, 2]": "[1, 4]"}).stderr)

    def test_another_machine_version_or_data_file_is_refused(self):
        data = self.write("iris.csv", IRIS.read_bytes())
        replacement = {"blobs: {samples: 300}": f"file: {data}"}
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
        run(*arguments, "--resume", status=1)
        self.assertEqual(self.records.read_bytes(), before)
        again = run(*arguments, "--resume", "--retry-failed", status=1)
        self.assertIn("2 of 6 trials left", again.stderr)
        self.assertEqual(len(self.lines()), 8)
        table = again.stdout[:again.stdout.index("\nrecords: ")]
        self.assertEqual(run("report", self.output).stdout, table)

    def test_retry_needs_resume(self):
        self.assertIn("--resume", run("run", self.config(SMALL), "--retry-failed", status=2).stderr)


# 64 KiB are less than the records of 60 trials.
TMPFS = """
set -e
mount -t tmpfs -o size=64k lloyd {folder}
status=0; {lloyd} run {config} > {out} 2> {err} || status=$?
test $status = 1
cp {folder}/results/records.jsonl {left}
ls {folder}/results > {files}
mount -o remount,size=16m {folder}
{lloyd} run {config} --resume > {out}.2 2> {err}.2
cp {folder}/results/records.jsonl {whole}
"""


class FullDisk(ResumeCase):
    """Each trial that was complete is kept, nothing is half there, and the rest can be made later."""

    def check(self, left, said):
        """Returns how many trials were kept."""
        self.assertEqual(said.count("lloyd: cannot append a record to "), 1)
        self.assertRegex(said.splitlines()[-1],
                         r"^lloyd: cannot append a record to \S+records.jsonl: "
                         r"(no space is left|No space left on device|File too large)$")
        self.assertTrue(left.endswith(b"\n"))
        records = [json.loads(line) for line in left.splitlines()]
        self.assertEqual([record["status"] for record in records], ["ok"] * len(records))
        self.assertGreater(len(records), 3)
        return len(records)

    def limited(self, size, *arguments):
        """A run whose files end at a size; Python ignores the signal that would tell it."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        return subprocess.run([LLOYD, "run", self.config(), *arguments], capture_output=True,
                              text=True, timeout=300, preexec_fn=limit, restore_signals=False)

    def test_nothing_complete_is_lost_and_the_rest_is_made_later(self):
        run("run", self.config())
        whole = self.outcomes()
        size = len(b"".join(self.lines()[:20]))
        for more in (0, 1, 700):  # full at the end of a record, and within the next one
            with self.subTest(more=more):
                shutil.rmtree(self.output)
                done = self.limited(size + more)
                self.assertEqual(done.returncode, 1, done.stderr)
                kept = self.check(self.records.read_bytes(), done.stderr)
                self.assertEqual([path.name for path in self.output.iterdir()], ["records.jsonl"])
                self.assertIn("openmp", done.stdout)  # the summary of what there is
                last = run("run", self.config(), "--resume")
                self.assertIn(f"{TRIALS - kept} of 60 trials left", last.stderr)
                self.assert_same_outcomes(whole, self.outcomes())

    def test_a_full_tmpfs(self):
        if shutil.which("unshare") is None or subprocess.run(
                ["unshare", "-rm", "true"], capture_output=True).returncode != 0:
            self.skipTest("needs a user namespace to mount in; the other test limits the files' size")
        run("run", self.config())
        whole = self.outcomes()
        mount = self.folder / "mount"
        mount.mkdir()
        self.output = mount / "results"
        names = {name: self.folder / name for name in ("out", "err", "left", "whole", "files")}
        script = TMPFS.format(folder=mount, lloyd=LLOYD, config=self.config(), **names)
        done = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True,
                              timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        kept = self.check(names["left"].read_bytes(), names["err"].read_text())
        self.assertEqual(names["files"].read_text(), "records.jsonl\n")
        self.assertIn(f"{TRIALS - kept} of 60 trials left", (self.folder / "err.2").read_text())
        self.records = names["whole"]
        self.assert_same_outcomes(whole, self.outcomes())

    def test_a_summary_that_cannot_be_written_keeps_the_old_one_and_the_records(self):
        run("run", self.config(repeats="repeats: 2 #"))
        summary = self.output / "summary.csv"
        before, records = summary.read_bytes(), self.records.read_bytes()
        done = self.limited(100, "--resume", "--repeats", "2")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1], r"summary.csv: cannot write the file: \S")
        self.assertEqual(summary.read_bytes(), before)
        self.assertEqual(self.records.read_bytes(), records)
        self.assertEqual(sorted(path.name for path in self.output.iterdir()),
                         ["records.jsonl", "summary.csv"])


class Concurrent(ResumeCase):
    def test_a_second_run_into_a_folder_is_refused_at_once(self):
        config = self.config(repeats="repeats: 100000 #")
        process = subprocess.Popen([LLOYD, "run", str(config)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        while process.poll() is None and not self.lines():
            time.sleep(0.005)
        # Before any data is read: this experiment has none.
        absent = self.write("absent.yaml", "{dataset: {file: none.npy}, backends: [sequential], "
                                           f"output: {self.output}}}")
        for other in (config, absent):
            for arguments in ((), ("--resume",)):
                said = run("run", other, *arguments, status=2).stderr
                self.assertEqual(said, f"lloyd: another run is writing to {self.output}: wait "
                                       "until it ends, or give another folder with --output\n")
        self.assertIn("trials", run("run", config, "--dry-run").stdout)
        self.assertIsNone(process.poll())


if __name__ == "__main__":
    unittest.main()
