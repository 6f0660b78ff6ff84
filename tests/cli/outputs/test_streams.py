"""Closed and full standard streams."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import IRIS, LLOYD, TestCase

CONFIG = """
experiment: streams
dataset:
  blobs: {samples: 100, features: 2, centers: 4}
clusters: 4
backends: [sequential]
repeats: 2
output: OUTPUT
"""


class Streams(TestCase):
    def shell(self, redirections, *arguments):
        return subprocess.run(["sh", "-c", f'exec "$@" {redirections}', "sh", LLOYD, *map(str, arguments)],
                              capture_output=True, text=True, timeout=120).returncode

    def test_standard_error_is_not_needed(self):
        for redirections in ("2>&-", "2>/dev/full"):
            with self.subTest(redirections):
                self.assertEqual(self.shell(redirections, "fit", IRIS, "-k", "3"), 0)
                self.assertEqual(self.shell(redirections, "fit", IRIS, "-k", "0"), 2)

    def test_results_that_cannot_be_printed_are_a_failure(self):
        for redirections in (">&-", ">/dev/full"):
            with self.subTest(redirections):
                self.assertEqual(self.shell(redirections, "fit", IRIS, "-k", "3"), 1)
                self.assertEqual(self.shell(redirections, "--help"), 1)

    def test_files_are_written_though_nothing_can_be_printed(self):
        for redirections in (">&-", ">/dev/full"):
            with self.subTest(redirections):
                model = self.folder / "model.json"
                self.assertEqual(
                    self.shell(redirections, "fit", IRIS, "-k", "3", "--model", model), 1)
                self.assertEqual(json.loads(model.read_text())["clusters"], 3)
                model.unlink()

    def test_records_are_not_mixed_with_what_is_printed(self):
        output = self.folder / "out"
        config = self.write("config.yaml", CONFIG.replace("OUTPUT", str(output)))
        self.shell(">&- 2>&- <&-", "run", config)
        lines = (output / "records.jsonl").read_text().splitlines()
        self.assertEqual([json.loads(line)["status"] for line in lines], ["ok", "ok"])


@unittest.skipUnless(os.path.exists("/dev/full"), "this machine has no /dev/full")
class Reasons(unittest.TestCase):
    def test_a_result_that_cannot_be_written_names_the_stream_and_the_reason(self):
        for arguments in (["backends", "--json"], ["data", "info", str(IRIS)]):
            with self.subTest(arguments), open("/dev/full", "w") as full:
                done = subprocess.run([LLOYD, *arguments], stdout=full, stderr=subprocess.PIPE, text=True,
                                      timeout=300)
                self.assertEqual((done.returncode, done.stderr),
                                 (1, "lloyd: standard output cannot be written: No space left on device\n"))


class Help(unittest.TestCase):
    @unittest.skipUnless(os.path.exists("/dev/full"), "this machine has no /dev/full")
    def test_help_that_cannot_be_printed_says_so(self):
        for arguments in (["--help"], ["fit", "--help"], ["--version"]):
            with self.subTest(arguments), open("/dev/full", "w") as full:
                done = subprocess.run([LLOYD, *arguments], stdout=full, stderr=subprocess.PIPE, text=True,
                                      timeout=60)
                self.assertEqual((done.returncode, done.stderr),
                                 (1, "lloyd: standard output cannot be written\n"))


if __name__ == "__main__":
    unittest.main()
