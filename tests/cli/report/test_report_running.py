"""`lloyd report` distinguishes a run in progress from a killed run."""

import json
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import LLOYD, TestCase, needs_html_report, run
from test_report_page import data_of

CONFIG = """
dataset: {blobs: {samples: 20000, features: 4, centers: 8}}
backends: [sequential]
repeats: 100000
sweep: {clusters: [2, 3]}
"""
GOING = "the run is not over, a process is still writing to the file: 1 of its 2 rows are here"
KILLED = "the run was killed: 1 of its 2 rows are here"


class RunningRun(TestCase):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "out"
        self.records = self.output / "records.jsonl"
        self.config = self.write("c.yaml", CONFIG)

    def start(self, *arguments, records=3):
        """Starts a run and returns after this many records, while it continues."""
        process = subprocess.Popen([LLOYD, "run", self.config, "--output", self.output, *arguments],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 240
        while not self.records.exists() or self.records.read_bytes().count(b"\n") < records:
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        return process

    @needs_html_report
    def test_the_page_tells_a_run_that_goes_on_from_a_killed_one(self):
        process = self.start()
        page = self.folder / "report.html"
        self.assertIn(GOING, run("report", self.output, "-o", page).stderr)
        self.assertEqual(data_of(page.read_text())["unfinished"], GOING)
        process.kill()
        process.wait(timeout=60)
        run("report", self.output, "-o", page)
        self.assertEqual(data_of(page.read_text())["unfinished"], KILLED)

    def test_a_run_that_goes_on_is_not_called_killed(self):
        process = self.start()
        for arguments in ([], ["--json"]):
            self.assertIn(GOING, run("report", self.output, *arguments).stderr)
        self.assertIsNone(process.poll())
        # The kernel releases the lock of a killed process.
        process.kill()
        process.wait(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assertIn(KILLED, run("report", self.output).stderr)
        # A resumed run is in progress again.
        self.start("--resume", records=self.records.read_bytes().count(b"\n") + 1)
        self.assertIn(GOING, run("report", self.output).stderr)

    def test_reports_do_not_keep_a_run_from_beginning(self):
        run("run", self.config, "--output", self.output, "--repeats", 1)
        reports = subprocess.Popen(
            ["sh", "-c", 'while :; do "$0" report "$1" >/dev/null; done', LLOYD, self.output],
            stderr=subprocess.DEVNULL)
        self.addCleanup(reports.wait)
        self.addCleanup(reports.kill)
        for _ in range(10):
            run("run", self.config, "--output", self.output, "--repeats", 1)

    def test_missing_trials_are_reported_where_every_row_is_there(self):
        run("run", self.config, "--output", self.output, "--repeats", 3)
        self.assertEqual(run("report", self.output).stderr, "")
        lines = self.records.read_text().splitlines(keepends=True)
        killed = self.write("killed.jsonl", "".join(lines[:-1]))
        self.assertEqual(run("report", killed).stderr,
                         "lloyd: the run was killed: 5 of its 6 trials are here\n")
        last = json.loads(lines[-1])
        last.update(status="cancelled", reason="interrupted", iterations=None)
        interrupted = self.write("interrupted.jsonl", "".join(lines[:-1]) + json.dumps(last) + "\n")
        self.assertEqual(run("report", interrupted).stderr,
                         "lloyd: the run was interrupted: 5 of its 6 trials are here\n")


if __name__ == "__main__":
    unittest.main()
