"""lloyd history: the times of many runs, and where they changed."""

import csv
import io
import json
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import TestCase, run, run_json

CONFIG = """
experiment: history
dataset: {blobs: {samples: 100, features: 2, centers: 4}}
backends: [sequential, openmp: {threads: 1}]
stop: {iterations: 3}
repeats: 3
sweep: {clusters: [2, 3]}
"""


class History(TestCase):
    def setUp(self):
        super().setUp()
        run("run", self.write("c.yaml", CONFIG), "--output", self.folder / "out")
        self.records = [json.loads(line) for line in (self.folder / "out" / "records.jsonl").read_text().splitlines()]

    def runs(self, times):
        """Folders with one run each; `times[i](record)` is the time of an iteration in run i."""
        folders = []
        for i, time_of in enumerate(times):
            folder = self.folder / f"run{i}"
            folder.mkdir()
            lines = []
            for record in self.records:
                record = json.loads(json.dumps(record))
                record["run"] = f"run-{i}"
                record["machine"]["commit"] = f"{i:02}" * 20
                record["loop_ms"] = 3 * time_of(record)
                lines.append(json.dumps(record) + "\n")
            (folder / "records.jsonl").write_text("".join(lines))
            folders.append(folder)
        return folders

    def test_a_change_is_found_where_it_happened(self):
        noise = random.Random(5)
        factors = [(1.0 if i < 8 else 1.2) * (1 + 0.02 * noise.random()) for i in range(14)]

        def time_of(factor):
            return lambda record: 10 * (factor if record["backend"]["name"] == "openmp" else 1 + (factor * 997) % 0.02)
        folders = self.runs([time_of(factor) for factor in factors])
        history = run_json("history", *folders)
        self.assertEqual([one["run"] for one in history["runs"]], [f"run-{i}" for i in range(14)])
        self.assertEqual(len(history["rows"]), 4)
        for row in history["rows"]:
            self.assertEqual(len(row["points"]), 14)
            if row["backend"] == "sequential":
                self.assertEqual(row["changes"], [])
                continue
            self.assertEqual([change["run"] for change in row["changes"]], [8])
            self.assertAlmostEqual(row["changes"][0]["after_ms"] / row["changes"][0]["before_ms"], 1.2, delta=0.03)
            for point, factor in zip(row["points"], factors):
                self.assertAlmostEqual(point["ms"], 10 * factor, delta=1e-9)
        text = " ".join(run("history", *folders).stdout.split())
        self.assertIn("run 9 (0808080808)", text)
        self.assertIn("per iteration", text)

    def test_csv_has_a_line_for_each_run_and_row(self):
        folders = self.runs([lambda record, i=i: 5 + i for i in range(3)])
        rows = list(csv.DictReader(io.StringIO(run("history", *folders, "--format", "csv").stdout)))
        self.assertEqual(len(rows), 3 * 4)
        mine = [row for row in rows if (row["clusters"], row["backend"]) == ("3", "openmp")]
        self.assertEqual([float(row["ms"]) for row in mine], [5, 6, 7])
        self.assertEqual({row["per"] for row in mine}, {"iteration"})
        markdown = run("history", *folders, "--format", "markdown").stdout
        self.assertIn("| too few runs |", markdown)

    def test_runs_of_one_file_and_another_processor(self):
        folders = self.runs([lambda record: 5, lambda record: 6])
        lines = (folders[1] / "records.jsonl").read_text().replace('"cpu": "', '"cpu": "other ')
        both = self.write("both.jsonl", (folders[0] / "records.jsonl").read_text() + lines)
        history = run_json("history", both)
        self.assertEqual([one["run"] for one in history["runs"]], ["run-0", "run-1"])
        self.assertIn("run 2 used another processor", " ".join(run("history", both).stdout.split()))

    def test_settings_without_common_axes_are_named(self):
        other = self.write("d.yaml", CONFIG.replace("sweep: {clusters: [2, 3]}", "clusters: 3\nseeding: {seed: 5}\n"))
        run("run", other, "--output", self.folder / "other")
        both = [self.folder / "out", self.folder / "other"]
        rows = run_json("history", *both)["rows"]
        self.assertEqual([row["facts"]["clusters"] for row in rows], [2, 2, 3, 3, 3, 3])
        self.assertEqual([row["facts"]["seed"] for row in rows], [0] * 4 + [5] * 2)
        markdown = run("history", *both, "--format", "markdown").stdout
        self.assertRegex(markdown, r"blobs\S*, n = 100, d = 2, k = 3, seed = 5 \|")
        self.assertNotIn(rows[0]["setting"], markdown)
        lines = list(csv.DictReader(io.StringIO(run("history", *both, "--format", "csv").stdout)))
        self.assertEqual({line["samples"] for line in lines}, {"100"})

    def test_settings_that_differ_in_one_key_name_it(self):
        text = CONFIG.replace("sweep: {clusters: [2, 3]}", "clusters: 3\nrestarts: 2\n")
        for name, change in (("plain", ""), ("scaled", "standardize: true, ")):
            file = self.write(f"{name}.yaml", text.replace("{blobs:", f"{{{change}blobs:"))
            run("run", file, "--output", self.folder / name)
        both = [self.folder / "plain", self.folder / "scaled"]
        markdown = run("history", *both, "--format", "markdown").stdout
        for value in ("false", "true"):
            self.assertRegex(markdown, rf"k = 3, seed = 0, standardize = {value} \|")
        self.assertRegex(markdown, r"all settings: centers = 4; restarts = 2; iterations = 3|"
                                   r"all settings: blobs.centers = 4; restarts = 2; iterations = 3")
        rows = run_json("history", *both)["rows"]
        self.assertEqual([row["facts"]["dataset.standardize"] for row in rows], [False, False, True, True])
        self.assertNotIn(rows[0]["setting"], markdown)
        said = run("compare", *both, status=2).stderr
        self.assertIn("their first settings differ in standardize: false (old), true (new)\n", said)

    def test_runs_in_another_order_than_time_are_noted_or_sorted(self):
        folders = self.runs([lambda record: 5, lambda record: 6])
        records = folders[1] / "records.jsonl"
        lines = [json.loads(line) for line in records.read_text().splitlines()]
        for line in lines:
            line["time"] = "2001-01-01T00:00:00Z"
        records.write_text("".join(json.dumps(line) + "\n" for line in lines))
        note = "run 2 is older than run 1: the runs are in the order in which they were given; --by-time sorts them"
        self.assertIn(note, " ".join(run("history", *folders).stdout.split()))
        self.assertNotIn("older", run("history", *folders, "--by-time").stdout)
        self.assertEqual([one["run"] for one in run_json("history", *folders, "--by-time")["runs"]], ["run-1", "run-0"])

    def test_bad_input(self):
        said = run("history", self.folder / "nowhere", status=2).stderr
        self.assertIn("nowhere", said)
        self.assertIn("RECORDS", run("history", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
