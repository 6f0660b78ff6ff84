"""Rows that are skipped: the summary's first line, the exit status, and a missing Python package."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ROOT, TestCase, run

PEER = f"""#!{sys.executable}
'''A peer whose package is missing.'''
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, {str(ROOT / "bench" / "peers")!r})
from program import run

NAME = "peer"


def describe():
    import a_package_that_nobody_has


run(describe, None)
"""


class Skipped(TestCase):
    def experiment(self, *options, backends="sequential, external: {program: peer.py}", status=0):
        self.write("peer.py", PEER).chmod(0o755)
        config = self.write("c.yaml", f"dataset: {{blobs: {{samples: 50}}}}\nbackends: [{backends}]\n"
                                      "sweep: {clusters: [2, 3]}\nstop: {iterations: 2}\nrepeats: 1\noutput: out\n")
        return run("run", config, *options, cwd=self.folder, status=status)

    def test_the_first_line_names_rows_and_reason(self):
        summary = self.experiment().stdout
        text = " ".join(summary.partition("\n\n")[0].split())
        self.assertTrue(text.startswith("2 of 4 rows were skipped: peer (2 rows): "), summary)
        self.assertIn("lacks a package: No module named '", text)
        self.assertLessEqual(max(map(len, summary.splitlines())), 100 + len(str(self.folder)))
        again = run("report", self.folder / "out").stdout
        self.assertTrue(again.startswith("2 of 4 rows were skipped: peer (2 rows): "), again)

    def test_a_missing_package_names_the_interpreter(self):
        text = self.experiment().stdout.replace("\n", "").replace(" ", "")
        self.assertIn(f"{sys.executable}lacksapackage:".replace(" ", ""), text)

    def test_an_option_gives_skipped_trials_a_status(self):
        self.experiment(status=0)
        self.experiment("--fail-if-skipped", status=3)
        self.experiment("--fail-if-skipped", backends="sequential", status=0)
        self.experiment("--fail-if-skipped", backends="external: {program: peer.py}", status=1)

    def test_nothing_is_said_if_no_row_is_skipped(self):
        self.assertTrue(self.experiment(backends="sequential").stdout.startswith("blobs"))


if __name__ == "__main__":
    unittest.main()
