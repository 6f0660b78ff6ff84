"""A run on a full disk reports it, loses no complete record, and can be resumed."""

import json
import pathlib
import resource
import shlex
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import LLOYD, run
from resume_case import TRIALS, ResumeCase

# 64 KiB are less than the records of 60 trials.
TMPFS = """
set -e
mount -t tmpfs -o size=64k lloyd {folder}
status=0; {lloyd} run {config} > {out} 2> {err} || status=$?
test $status = 1
cp {folder}/results/records.jsonl {left}
ls {folder}/results > {files}
# With a type and a source: without, mount would repeat options that a user may not give.
mount -t tmpfs -o remount,size=16m lloyd {folder}
{lloyd} run {config} --resume > {out}.2 2> {err}.2
cp {folder}/results/records.jsonl {whole}
"""


class FullDisk(ResumeCase):
    """Every complete trial is kept, no partial record is written, and the remaining trials can be run later."""

    def config(self, **replacements):
        # isolate: none, because files that are passed to workers would also hit the limit.
        return super().config(**{"iterations: 40": "iterations: 2",
                                 "repeats:": "isolate: none\nrepeats:", **replacements})

    def check(self, left, said):
        """Checks the message and the records that were kept; returns their number."""
        self.assertEqual(said.count("lloyd: cannot append a record to "), 1)
        self.assertRegex(said.splitlines()[-1],
                         r"^lloyd: cannot append a record to .+/records.jsonl: "
                         r"(no space is left|No space left on device|File too large)$")
        self.assertTrue(left.endswith(b"\n"))
        records = [json.loads(line) for line in left.splitlines()]
        self.assertEqual([record["status"] for record in records], ["ok"] * len(records))
        self.assertGreater(len(records), 3)
        return len(records)

    def limited(self, size, *arguments):
        """A run with a file size limit. Python ignores SIGXFSZ and passes that on, so writes fail instead."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        return subprocess.run([LLOYD, "run", self.config(), *arguments], capture_output=True,
                              text=True, timeout=300, preexec_fn=limit, restore_signals=False)

    def test_nothing_complete_is_lost_and_the_rest_is_made_later(self):
        run("run", self.config())
        whole = self.outcomes()
        size = len(b"".join(self.lines()[:20]))
        for more in (0, 1, 700):  # the limit falls between two records, and within a record
            with self.subTest(more=more):
                shutil.rmtree(self.output)
                done = self.limited(size + more)
                self.assertEqual(done.returncode, 1, done.stderr)
                kept = self.check(self.records.read_bytes(), done.stderr)
                self.assertEqual([path.name for path in self.output.iterdir()], ["records.jsonl"])
                self.assertIn("openmp", done.stdout)  # summary of the complete trials
                self.assertIn(f"records: {self.records}", done.stdout)
                self.assertNotIn("summary.csv", done.stdout)  # it was not written
                last = run("run", self.config(), "--resume")
                self.assertIn(f"{TRIALS - kept} of 60 trials left", last.stderr)
                self.assert_same_outcomes(whole, self.outcomes())

    def test_a_full_tmpfs(self):
        if shutil.which("unshare") is None or subprocess.run(
                ["unshare", "-rm", "mount", "-t", "tmpfs", "lloyd", self.folder], capture_output=True).returncode != 0:
            self.skipTest("needs a user namespace to mount in; the other test limits the files' size")
        run("run", self.config())
        whole = self.outcomes()
        mount = self.folder / "mount"
        mount.mkdir()
        self.output = mount / "results"
        names = {name: self.folder / name for name in ("out", "err", "left", "whole", "files")}
        paths = {"folder": mount, "lloyd": LLOYD, "config": self.config(), **names}
        script = TMPFS.format(**{name: shlex.quote(str(path)) for name, path in paths.items()})
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


if __name__ == "__main__":
    unittest.main()
