"""Files and records after an interrupted run."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import BAD_PLUGINS, IRIS, LLOYD, TestCase, process_tree, run

CONFIG = """
experiment: interrupted
dataset:
  blobs: {samples: 20000, features: 4, centers: 8, seed: 1}
clusters: 8
stop: {iterations: 20}
backends: [sequential, openmp: {threads: [1, 2]}]
baseline: sequential
repeats: 400
output: OUTPUT
"""


def cpu_seconds(pid):
    """Processor time of a process and its descendants."""
    ticks = 0
    for one in process_tree(pid):
        try:
            fields = pathlib.Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # the process has ended
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Interrupt(TestCase):
    def start(self):
        self.output = self.folder / "results"
        config = self.write("config.yaml", CONFIG.replace("OUTPUT", str(self.output)))
        return subprocess.Popen([LLOYD, "run", str(config)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def wait_for_records(self, process, count):
        """Waits until the file has `count` lines."""
        records = self.output / "records.jsonl"
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and process.poll() is None:
            if records.exists() and records.read_bytes().count(b"\n") >= count:
                return
            time.sleep(0.005)
        self.fail(f"no {count} records came: {process.communicate()}")

    def records(self):
        data = (self.output / "records.jsonl").read_bytes()
        self.assertTrue(data.endswith(b"\n"))
        return [json.loads(line) for line in data.splitlines()]

    def test_sigint_keeps_what_was_done_and_says_so(self):
        process = self.start()
        self.wait_for_records(process, 5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, err)
        records = self.records()
        self.assertGreaterEqual(sum(record["status"] == "ok" for record in records), 5)
        self.assertLess(len(records), 1200)
        self.assertIn("sequential", out)  # summary of the complete trials

    def test_a_run_under_nohup_outlives_its_terminal(self):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup
        self.addCleanup(signal.signal, signal.SIGHUP, signal.SIG_DFL)
        process = self.start()
        self.wait_for_records(process, 2)
        process.send_signal(signal.SIGHUP)
        self.wait_for_records(process, len(self.records()) + 10)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, err)

    def test_one_request_may_be_sent_twice(self):
        # timeout(1) signals its child, then the child's process group.
        process = self.start()
        self.wait_for_records(process, 5)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.002)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("sequential", out)

    def test_a_second_request_ends_what_does_not_stop(self):
        # A signal before the fit has begun ends the program normally.
        for delay in (0.1, 0.4, 1.6, 6.4, 25):
            process = subprocess.Popen(
                [LLOYD, "--plugin-dir", str(BAD_PLUGINS / "fit-hangs"), "fit", str(IRIS), "-k", "3",
                 "--backend", "fit-hangs"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            time.sleep(delay)
            first = time.monotonic()
            while process.poll() is None and time.monotonic() < first + 60:
                process.send_signal(signal.SIGINT)
                time.sleep(0.1)
            took = time.monotonic() - first
            if process.returncode == -signal.SIGINT and took > 1:
                return  # ended by a later signal than the first
        self.fail(f"the last one ended with {process.returncode} after {took:.1f} s")

    def test_kill_leaves_complete_lines_only(self):
        for seed in range(5):
            with self.subTest(seed=seed):
                process = self.start()
                records = self.output / "records.jsonl"
                before = records.read_bytes().count(b"\n") if records.exists() else 0
                self.wait_for_records(process, before + 3)
                time.sleep(random.Random(seed).uniform(0, 0.05))
                process.kill()
                process.communicate()
                self.assertEqual(process.returncode, -signal.SIGKILL)
                self.assertGreaterEqual(len(self.records()), before + 3)

    def test_half_a_line_is_cut_off_by_the_next_run(self):
        process = self.start()
        self.wait_for_records(process, 2)
        process.kill()
        process.communicate()
        complete = len(self.records())
        with open(self.output / "records.jsonl", "ab") as file:
            file.write(b'{"schema":1,"experi')
        process = self.start()
        self.wait_for_records(process, complete + 1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        self.assertGreater(len(self.records()), complete)


class Temporary(TestCase):
    SPACE = 1_000_000_000

    def start_blobs(self, *before):
        """Starts `lloyd data blobs` and returns when its temporary file exists."""
        process = subprocess.Popen([*before, LLOYD, "data", "blobs", str(self.folder / "blobs.csv"), "--samples",
                                    "20000000", "--features", "4"], stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        while not list(self.folder.iterdir()):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.005)
        return process

    def test_no_signal_that_ends_the_program_leaves_files(self):
        for number in (signal.SIGUSR1, signal.SIGALRM, signal.SIGXCPU, signal.SIGPIPE, signal.SIGABRT):
            with self.subTest(number):
                process = self.start_blobs()
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=120), -number)
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_signal_ends_process_1_of_a_container(self):
        inner = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]
        if subprocess.run([*inner, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("this machine makes no container")
        process = self.start_blobs(*inner)
        child = next(pid for pid in process_tree(process.pid) if pid != process.pid)
        os.kill(child, signal.SIGQUIT)
        self.assertEqual(process.wait(timeout=120), 128 + signal.SIGQUIT)
        self.assertEqual(list(self.folder.iterdir()), [])


class InterruptedFit(TestCase):
    def test_fit_keeps_centroids_and_model(self):
        data, output = self.folder / "blobs.npy", self.folder / "out"
        run("data", "blobs", data, "--samples", "2000", "--features", "4")
        run("fit", data, "-k", "3", "-o", output)
        process = subprocess.Popen(
            [LLOYD, "fit", str(data), "-k", "8", "--iterations", "1000000000", "-o", str(output)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertIn("using backend", process.stderr.readline())  # the fit is about to begin
        while cpu_seconds(process.pid) < 1:  # the fit is running, however busy the machine is
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=120)[1]
        self.assertEqual(process.returncode, 130)
        self.assertEqual(sorted(path.name for path in output.iterdir()),
                         ["centroids.csv", "labels.csv", "model.json"])
        self.assertIn(f"{output / 'labels.csv'} is from an earlier fit", error)
        labels = run("predict", output / "model.json", data).stdout.split()
        self.assertEqual(len(labels), 2000)


if __name__ == "__main__":
    unittest.main()
