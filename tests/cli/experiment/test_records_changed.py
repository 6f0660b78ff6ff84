"""Other programs change the files of a run while it writes them: no record is lost without a message."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import LLOYD, TestCase, run

CONFIG = """
dataset: {blobs: {samples: 20000, features: 16, centers: 8}}
clusters: 50
stop: {iterations: 3}
backends: [sequential]
repeats: REPEATS
output: out
"""
REPEATS = 60


class ChangedRecords(TestCase):
    def setUp(self):
        super().setUp()
        self.records = self.folder / "out" / "records.jsonl"
        self.summary = self.folder / "out" / "summary.csv"
        self.write("c.yaml", CONFIG.replace("REPEATS", str(REPEATS)))

    def count(self):
        return self.records.read_bytes().count(b"\n") if self.records.exists() else 0

    def begin(self):
        """A run that has written records and is stopped until end()."""
        process = subprocess.Popen([LLOYD, "run", "c.yaml"], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 240
        while self.count() < 3:
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)
        return process

    def end(self, process):
        """Status and messages of the run, after it has continued."""
        process.send_signal(signal.SIGCONT)
        _, messages = process.communicate(timeout=240)
        return process.returncode, messages

    def assert_told_and_kept(self, message, process):
        status, messages = self.end(process)
        self.assertEqual(status, 1, messages)
        self.assertIn(message, messages)
        kept = self.folder / re.search(r"it was kept as (.+)", messages).group(1)
        self.assertEqual(len(kept.read_text().splitlines()), REPEATS)
        run("report", kept)

    def test_records_that_are_replaced_are_kept(self):
        process = self.begin()
        replacement = self.write("copy.jsonl", self.records.read_bytes())
        os.replace(replacement, self.records)
        self.assert_told_and_kept("was replaced or removed while the run wrote to it", process)

    def test_records_that_are_removed_are_kept(self):
        process = self.begin()
        self.records.unlink()
        self.assert_told_and_kept("was replaced or removed while the run wrote to it", process)

    def test_a_piece_of_a_line_is_ended_before_the_next_record(self):
        process = self.begin()
        with open(self.records, "a") as file:
            file.write("x")
        self.assert_told_and_kept("another program appended to", process)
        others = []
        for line in self.records.read_text().splitlines():
            try:
                json.loads(line)
            except ValueError:
                others.append(line)
        self.assertEqual(others, ["x"])

    def test_records_that_are_cut_are_kept(self):
        process = self.begin()
        os.truncate(self.records, 100)
        self.assert_told_and_kept("another program truncated", process)

    def test_a_summary_that_becomes_a_link_does_not_replace_the_records(self):
        process = self.begin()
        self.summary.symlink_to("records.jsonl")
        status, messages = self.end(process)
        self.assertEqual(status, 1, messages)
        self.assertIn("summary.csv: cannot write the file: it now names a file that is in use", messages)
        self.assertRegex(messages, r"it was kept as .+/summary.csv")
        for line in self.records.read_text().splitlines():
            json.loads(line)

    def test_a_run_that_nobody_disturbs_says_nothing(self):
        status, messages = self.end(self.begin())
        self.assertEqual(status, 0, messages)
        self.assertNotIn("kept", messages)


class Unreadable(TestCase):
    def test_records_that_cannot_be_read_are_a_warning(self):
        config = self.write("c.yaml", CONFIG.replace("REPEATS", "1"))
        (self.folder / "out").mkdir()
        for text in ("\n", "5\n", "{}\n", "\ufeff\n"):
            with self.subTest(text):
                records = self.write("out/records.jsonl", text)
                said = run("run", config, cwd=self.folder).stderr
                self.assertIn("records.jsonl:1: ", said)
                self.assertIn("'report' and '--resume' cannot read this file", said)
                run("report", self.folder / "out", status=2)
                records.unlink()


class RunNames(TestCase):
    def test_runs_of_one_process_number_and_second_differ(self):
        """In containers, every run may have process number 1."""
        config = self.write("c.yaml", CONFIG.replace("REPEATS", "1"))
        run("run", config, cwd=self.folder)
        record = json.loads((self.folder / "out" / "records.jsonl").read_text())
        self.assertRegex(record["run"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ-\d+-[0-9a-f]{8}$")


if __name__ == "__main__":
    unittest.main()
