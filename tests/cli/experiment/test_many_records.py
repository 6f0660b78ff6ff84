"""Hundreds of thousands of settings and records: a limit with a clear message, and little memory."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import LLOYD, SANITIZED, SMALL_EXPERIMENT, TestCase, run

SETTINGS = 20


def peak_kib(*arguments):
    """Peak memory of lloyd in KiB."""
    process = subprocess.Popen([LLOYD, *map(str, arguments)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return used.ru_maxrss


class ManyRecords(TestCase):
    def records(self, repeats, settings=SETTINGS):
        """Writes this many trials of each setting, copied from the record of one."""
        output = self.folder / f"template-{repeats}"
        run("run", self.write("template.yaml", SMALL_EXPERIMENT), "--output", output)
        record = json.loads((output / "records.jsonl").read_text())
        record["plan"].update(settings=settings, repeats=repeats)
        target = self.folder / f"{repeats}.jsonl"
        with target.open("w") as file:
            for setting in range(settings):
                record.update(setting=f"{setting:016x}", axes={"clusters": str(setting)}, repeat="REPEAT",
                              loop_ms="LOOP")
                record["plan"]["setting"] = setting
                line = json.dumps(record) + "\n"
                for repeat in range(repeats):
                    file.write(line.replace('"REPEAT"', str(repeat)).replace('"LOOP"', str(30 + 3 * setting)))
        return target

    @unittest.skipIf(SANITIZED, "a sanitizer's build takes memory of its own")
    def test_a_report_keeps_little_of_a_record(self):
        few, many = self.records(5), self.records(500)
        more = (500 - 5) * SETTINGS
        kib = peak_kib("report", many) - peak_kib("report", few)
        self.assertLess(kib * 1024 / more, 2000, "bytes of a record")

    @unittest.skipIf(SANITIZED, "a sanitizer's build takes memory of its own")
    def test_a_report_keeps_little_of_a_trial(self):
        few, many = self.records(5, 1), self.records(10_000, 1)
        kib = peak_kib("report", many) - peak_kib("report", few)
        self.assertLess(kib * 1024 / (10_000 - 5), 1000, "bytes of a trial")

    def test_a_line_longer_than_a_record_is_refused(self):
        config = self.write("c.yaml", SMALL_EXPERIMENT)
        run("run", config, "--output", self.folder / "out")
        file = self.folder / "out" / "records.jsonl"
        whole = file.stat().st_size
        os.truncate(file, whole + (64 << 20) + 1)
        message = f"lloyd: {file}:2: the line is longer than 64 MiB, the maximum length of a record\n"
        for command in (["report"], ["report", "--json"], ["compare"]):
            self.assertEqual(run(*command, file, status=2).stderr, message)
        self.assertEqual(
            run("run", config, "--output", self.folder / "out", status=2).stderr,
            f"lloyd: {file}: its last line is longer than 64 MiB, the maximum length of a record: give another folder with "
            "--output\n")
        # Within the maximum record size, this is the remainder of a killed run.
        os.truncate(file, whole + (64 << 20))
        self.assertIn("passed over an incomplete last record", run("report", file).stderr)

    def test_a_report_is_that_of_all_records(self):
        rows = json.loads(run("report", self.records(7), "--json").stdout)["rows"]
        self.assertEqual([row["clusters"] for row in rows], list(range(SETTINGS)))
        self.assertEqual([row["trials"] for row in rows], [7] * SETTINGS)
        self.assertEqual([row["ms_per_iteration"] for row in rows], [10 + i for i in range(SETTINGS)])

    def test_an_unknown_run_is_not_answered_with_all_runs(self):
        config = self.write("c.yaml", SMALL_EXPERIMENT)
        run("run", config, "--output", self.folder / "out")
        record = json.loads((self.folder / "out" / "records.jsonl").read_text())
        file = self.write("runs.jsonl", "".join(json.dumps({**record, "run": f"number {i:04}"}) + "\n"
                                                for i in range(2000)))
        self.assertEqual(
            run("report", file, "--run", "zz", status=2).stderr,
            f"lloyd: {file} has no run 'zz' (the last 5 of its 2000 runs: number 1995, number 1996, number 1997, "
            "number 1998, number 1999)\n")
        self.assertIn("did you mean 'number 0042'?", run("report", file, "--run", "number  0042", status=2).stderr)

    def test_more_than_a_million_pairs_are_refused(self):
        config = self.write("c.yaml", "dataset: {blobs: {samples: 50}}\nbackends: [{openmp: {threads: "
                            f"{list(range(1, 1001))}}}}}]\nsweep: {{clusters: {list(range(1, 41))}, "
                            f"seeding.seed: {list(range(200))}}}\n")
        self.assertEqual(
            run("run", config, "--dry-run", "--output", self.folder / "out", status=2).stderr,
            "lloyd: the experiment has 8000 settings x 1000 variants of backends = 8000000 pairs; at most "
            "1000000 are allowed: sweep over fewer values, or divide it into several experiments\n")


if __name__ == "__main__":
    unittest.main()
