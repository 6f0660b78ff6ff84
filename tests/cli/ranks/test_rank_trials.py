"""`lloyd run` with `ranks`: each trial is started by a launcher, as one fit of several processes."""

import json
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from mpi import ENVIRONMENT, MPIEXEC, rank_of, used_time
from program import IRIS, LLOYD, TestCase, is_gone, process_tree, run

CONFIG = """
experiment: ranks
dataset: {blobs: {samples: 1001, features: 3, centers: 6, seed: 3}}
clusters: 6
stop: {iterations: 5}
backends: [sequential, openmp: {threads: 1}]
repeats: 2
"""
LONG = """
dataset: {blobs: {samples: 200000, features: 8, centers: 50}}
clusters: 50
seeding: first
stop: {iterations: 1000000000}
backends: [sequential]
repeats: 1
"""
# What mpirun of Open MPI 4 prints.
ROOT_REFUSAL = """\
--------------------------------------------------------------------------
mpirun has detected an attempt to run as root.

Running as root is *strongly* discouraged as any mistake (e.g., in
defining TMPDIR) or bug can result in catastrophic damage to the OS
file system, leaving your system in an unusable state.

We strongly suggest that you run mpirun as a non-root user.

You can override this protection by adding the --allow-run-as-root option
to the cmd line or by setting two environment variables in the following way:
the variable OMPI_ALLOW_RUN_AS_ROOT=1 to indicate the desire to override this
protection, and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 to confirm the choice and
add one more layer of certainty that you want to do so.
We reiterate our advice against doing so - please proceed at your own risk.
--------------------------------------------------------------------------
"""


@unittest.skipUnless(MPIEXEC, "this build has no MPI plugin: MPI was not found")
class RankTrials(TestCase):
    output = "out"

    def write_config(self, config, ranks, launcher=f"{MPIEXEC} -n {{ranks}}"):
        return self.write("c.yaml", f"{config}\nranks: {ranks}\nlauncher: {json.dumps(launcher)}\n")

    def records(self):
        lines = (self.folder / self.output / "records.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def run_ranks(self, config, ranks, *arguments, status=0, **launcher):
        run("run", self.write_config(config, ranks, **launcher), "--output", self.folder / self.output, *arguments,
            status=status, env=ENVIRONMENT)
        return self.records()

    def script(self, text):
        """A launcher that is not one."""
        file = pathlib.Path(self.write("launcher.sh", f"#!/bin/sh\n{text}\n"))
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return f'"{file}" {{ranks}}'

    def left_files(self):
        return sorted(path.name for path in (self.folder / self.output).iterdir())

    def test_all_numbers_of_ranks_have_one_result(self):
        records = self.run_ranks(CONFIG, "[1, 2, 3]")
        self.assertEqual(len(records), 2 * 3 * 2)
        alone = self.write("alone.yaml", CONFIG)
        run("run", alone, "--output", self.folder / "alone")
        expected = json.loads((self.folder / "alone" / "records.jsonl").read_text().splitlines()[0])
        labels = set()
        for record in records:
            self.assertEqual((record["status"], record["reason"]), ("ok", None))
            for key in ("inertia", "inertia_after_one", "iterations", "sum_form"):
                self.assertEqual(record[key], expected[key], key)
            self.assertEqual(record["wrong_labels"], 0)
            if record["check"]:  # all labels, against the definition
                self.assertEqual((record["check"]["samples"], record["check"]["wrong_labels"]), (1001, 0))
            labels.add(record["backend"]["label"])
        self.assertEqual(sum(record["check"] is not None for record in records), 6)
        self.assertEqual(labels, {f"{name} ranks={ranks}" for name in ("sequential", "openmp") for ranks in (1, 2, 3)})
        self.assertEqual(self.left_files(), ["records.jsonl", "summary.csv"])
        table = run("report", self.folder / self.output).stdout
        self.assertIn("sequential ranks=3", table)

    def test_records_say_how_ranks_spent_the_time(self):
        for record in self.run_ranks(CONFIG, "[1, 2]"):
            ranks = record["ranks"]
            self.assertEqual(record["launcher"], f"{MPIEXEC} -n {{ranks}}")
            self.assertEqual(len(record["hosts"]), ranks)
            self.assertTrue(all(record["hosts"]))
            longest, mean = record["communication_ms"]["max"], record["communication_ms"]["mean"]
            if ranks == 1:
                self.assertEqual((longest, mean, record["communication_share"], record["imbalance"]), (0, 0, 0, 1))
                continue
            self.assertLessEqual(0, mean)
            self.assertLessEqual(mean, longest)
            self.assertGreater(longest, 0)
            self.assertLess(0, record["communication_share"])
            self.assertLess(record["communication_share"], 1)
            self.assertGreaterEqual(record["imbalance"], 1)
            self.assertLessEqual(record["imbalance"], ranks)

    def test_files_are_read_by_all_ranks(self):
        array = self.folder / "data.npy"
        run("data", "blobs", array, "--samples", 301, "--features", 3, "--seed", 5)
        for dataset in (f"{{file: '{array}'}}", f"{{file: '{IRIS}', standardize: true}}",
                        f"{{file: '{array}', samples: 99, shuffle: true}}", "{blobs: {samples: 50}, standardize: true}"):
            with self.subTest(dataset):
                config = f"dataset: {dataset}\nclusters: 3\nbackends: [sequential]\nrepeats: 1\nrestarts: 2\n"
                self.output = f"out{abs(hash(dataset))}"
                record, = self.run_ranks(config, 2, "--set", "isolate=none")
                plain = self.write("plain.yaml", config)
                run("run", plain, "--output", self.folder / f"plain-{self.output}")
                expected = json.loads((self.folder / f"plain-{self.output}" / "records.jsonl").read_text())
                self.assertEqual(record["status"], "ok", record["reason"])
                for key in ("inertia", "iterations", "restart", "adjusted_rand_index"):
                    self.assertEqual(record[key], expected[key], key)

    def test_launchers_that_fail_are_failures_of_their_trials(self):
        ended = "the launcher '\".*/launcher.sh\" {ranks}' ended "
        for text, reason in (("exit 3", ended + r"with exit\(3\)$"), ("exit 0", ended + "without a result of the ranks$"),
                             ("echo no such node; exit 1", ended + r"with exit\(1\); last words: no such node$"),
                             (f"printf '%s' '{ROOT_REFUSAL}'; exit 1",
                              ended + r"with exit\(1\); last words: mpirun has detected an attempt to run as root; the variables "
                              "OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 permit it$"),
                             ('shift; exec "$@"', "1 of 2 processes joined; the launcher must start as many as {ranks} says")):
            with self.subTest(text):
                self.output = f"out{abs(hash(text))}"
                launcher = self.script(text)
                records = self.run_ranks(CONFIG, 2, "--set", "backends=[sequential]", status=1, launcher=launcher)
                self.assertEqual({record["status"] for record in records}, {"failed"})
                self.assertRegex(records[0]["reason"], "^" + reason)
                self.assertEqual(self.left_files(), ["records.jsonl", "summary.csv"])

    def test_a_launcher_that_disappears_fails_the_trials_left(self):
        launcher = self.script('rm "$0"; echo gone; exit 1')
        records = self.run_ranks(CONFIG, 2, "--set", "backends=[sequential]", status=1, launcher=launcher)
        self.assertEqual([record["status"] for record in records], ["failed", "failed"])
        self.assertTrue(records[0]["reason"].endswith("last words: gone"), records[0]["reason"])
        self.assertEqual(records[1]["reason"],
                         f"the launcher '{self.folder / 'launcher.sh'}' is not an executable program, or not in PATH")

    def test_a_missing_launcher_skips_all(self):
        records = self.run_ranks(CONFIG, "[1, 2]", status=1, launcher="lloyd-no-launcher -n {ranks}")
        self.assertEqual({(record["status"], record["reason"]) for record in records}, {
            ("skipped", "the launcher 'lloyd-no-launcher' is not an executable program, or not in PATH; set 'launcher' to another one")})

    def start_run(self, ranks, **launcher):
        """Starts an endless trial; returns the process of `lloyd run`."""
        command = [LLOYD, "run", self.write_config(LONG, ranks, **launcher), "--output", self.folder / self.output]
        process = subprocess.Popen(list(map(str, command)), env=ENVIRONMENT, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, process, find):
        deadline = time.monotonic() + 240
        while True:
            tree = process_tree(process.pid)[1:]
            found = find(tree)
            if found:
                return tree, found
            self.assertIsNone(process.poll(), "the run has ended")
            self.assertLess(time.monotonic(), deadline, "the launcher does not start its processes")
            time.sleep(0.1)

    def finish(self, process, tree):
        process.communicate(timeout=240)
        deadline = time.monotonic() + 30
        while not all(is_gone(pid) for pid in tree):
            self.assertLess(time.monotonic(), deadline, "processes are left")
            time.sleep(0.1)
        return self.records()

    @staticmethod
    def sleepers(tree):
        def name(pid):
            try:
                return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
            except OSError:
                return ""
        return [pid for pid in tree if name(pid) == "sleep"]

    def ranks_at_work(self, tree):
        """The processes by rank, once each has worked for a while."""
        found = {rank_of(pid): pid for pid in tree if used_time(pid) > 0.5}
        found.pop("", None)
        return found if len(found) == 2 else None

    def test_a_rank_that_is_killed_fails_its_trial(self):
        process = self.start_run(2)
        tree, ranks = self.wait_for(process, self.ranks_at_work)
        os.kill(ranks["1"], signal.SIGKILL)
        record, = self.finish(process, tree)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(record["status"], "failed")
        # A slow machine may still generate the data.
        phase = "(while reading the data|during the fit)"
        self.assertRegex(record["reason"], rf"last words: rank 1 on {re.escape(socket.gethostname())}, {phase}: .*signal 9 \(Killed\)$")

    def test_a_time_limit_ends_the_launcher(self):
        launcher = self.script("exec sleep 1000")
        process = self.start_run(2, launcher=launcher)
        tree, _ = self.wait_for(process, self.sleepers)
        process.kill()
        self.finish_killed(process, tree)
        records = self.run_ranks(LONG, 2, "--set", "timeout=1", status=1, launcher=launcher)
        self.assertEqual((records[-1]["status"], records[-1]["reason"]), ("timed out", "it took longer than 1 s"))

    def finish_killed(self, process, tree):
        """Nothing is left of a run that was killed."""
        process.communicate(timeout=60)
        deadline = time.monotonic() + 30
        while not all(is_gone(pid) for pid in tree):
            self.assertLess(time.monotonic(), deadline, "processes are left")
            time.sleep(0.1)

    def test_an_interrupt_ends_the_launcher(self):
        # Only the launcher can end ranks on other machines, so it gets SIGTERM before SIGKILL.
        asked = self.folder / "asked"
        process = self.start_run(2, launcher=self.script(f"trap 'echo > \"{asked}\"; exit 1' TERM; sleep 1000 & wait"))
        tree, _ = self.wait_for(process, self.sleepers)
        process.send_signal(signal.SIGINT)
        record, = self.finish(process, tree)
        self.assertTrue(asked.exists())
        self.assertEqual(process.returncode, 130)
        self.assertEqual(record["status"], "cancelled")
        self.assertEqual(self.left_files(), ["records.jsonl", "summary.csv"])

    def test_other_launchers_resume_no_run(self):
        config = CONFIG.replace("repeats: 2", "repeats: 1")
        self.run_ranks(config, "[1, 2]")
        launcher = f"{MPIEXEC} -np {{ranks}}"
        said = run("run", self.write_config(config, "[1, 2]", launcher), "--output", self.folder / self.output, "--resume",
                   status=2, env=ENVIRONMENT).stderr
        self.assertIn(f"'launcher' was '{MPIEXEC} -n {{ranks}}' and is '{launcher}'", said)


if __name__ == "__main__":
    unittest.main()
