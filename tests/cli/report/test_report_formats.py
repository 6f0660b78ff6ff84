"""lloyd report: other formats and another baseline."""

import csv
import io
import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import TestCase, needs_html_report, run

CONFIG = """
experiment: formats
dataset: {blobs: {samples: 300, features: 2, centers: 4}}
backends: [sequential, openmp: {threads: 1}, missing: {some_value: [1, 2]}]
optional: [missing]
baseline: sequential
stop: {iterations: 3}
repeats: 2
sweep: {clusters: [2, 3]}
reference: {source: "A & B, 50% of them", quantity: speedup, backend: openmp, values: [{clusters: 2, value: 2.5}]}
"""


class Formats(TestCase):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "out"
        run("run", self.write("c.yaml", CONFIG), "--output", self.output)

    def report(self, *options):
        return run("report", self.output, *options).stdout

    def change_records(self, change):
        records = self.output / "records.jsonl"
        lines = [json.loads(line) for line in records.read_text().splitlines()]
        for line in lines:
            change(line)
        records.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def test_csv_and_json_are_those_of_the_run(self):
        self.assertEqual(self.report("--format", "csv"), (self.output / "summary.csv").read_text())
        self.assertEqual(len(list(csv.DictReader(io.StringIO(self.report("--format", "csv"))))), 8)
        self.assertEqual(self.report("--format", "json"), self.report("--json"))
        self.assertEqual(self.report("--format", "text"), self.report())

    def test_swept_numbers_are_numbers_in_json(self):
        self.assertEqual([row["clusters"] for row in json.loads(self.report("--json"))["rows"]], [2] * 4 + [3] * 4)
        text = """
dataset: {blobs: {samples: 50}}
clusters: 2
stop: {iterations: 1}
backends: [sequential]
repeats: 1
sweep: {seeding.seed: [1, 18446744073709551615], dataset.blobs.std: [.5, 1.0e-4], seeding.method: [first, random]}
"""
        for done in (run("run", self.write("axes.yaml", text), "--output", self.folder / "axes", "--json"),
                     run("report", self.folder / "axes", "--json")):
            rows = json.loads(done.stdout)["rows"]
            axes = [(row["seeding.seed"], row["dataset.blobs.std"], row["seeding.method"]) for row in rows]
            self.assertEqual(sorted(axes), [(seed, std, method) for seed in (1, 2**64 - 1) for std in (1e-4, 0.5)
                                            for method in ("first", "random")])

    def test_markdown_has_the_cells_of_the_text(self):
        lines = self.report("--format", "markdown").splitlines()
        self.assertTrue(lines[0].startswith("4 of 8 rows were skipped: "), lines[0])
        rows = [line for line in lines if line.startswith("|")]
        table = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]
        self.assertEqual(table[0][:3], ["clusters", "backend", "ms/iteration"])
        self.assertRegex(rows[1], r"^\| ---: \| --- \| ---: \|")
        self.assertEqual(len({len(row) for row in table}), 1)
        self.assertEqual(len(table), 2 + 8)
        self.assertEqual([row[1] for row in table[2:5]], ["sequential", "openmp", r"missing some\_value=1"])
        self.assertIn("skipped: no plugin of this name can be loaded", table[4])
        self.assertEqual(table[3][-1], "2.50")
        self.assertTrue(any(line.startswith("- ms/iteration: median of 2 repeats") for line in lines))

    def test_latex_is_escaped_and_complete(self):
        text = self.report("--format", "latex")
        self.assertIn("\n% 4 of 8 rows were skipped: ", text)
        self.assertEqual(text.count(r"\begin{tabular}"), text.count(r"\end{tabular}"))
        self.assertIn(r"missing some\_value=1", text)
        self.assertIn(r"A \& B, 50\% of them", text)
        self.assertRegex(text, r"\\multicolumn\{\d\}\{l\}\{skipped: ")
        body = text[text.index(r"\begin{tabular}"):text.index(r"\end{tabular}")]
        columns = len(re.search(r"\\begin\{tabular\}\{([lr]+)\}", body)[1])
        rows = [line for line in body.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
        self.assertEqual({len(re.split(r"(?<!\\)&", row)) for row in rows}, {columns})
        self.assertEqual(len(rows), 1 + 4)

    def test_unknown_formats_are_refused(self):
        self.assertIn("html", run("report", self.output, "--format", "html", status=2).stderr)

    def test_another_baseline_needs_no_second_run(self):
        def change(record):
            record["backend"]["accuracy"] = "exact"
            record["loop_ms"] = {"sequential": 6, "openmp": 3}.get(record["backend"]["name"])
        self.change_records(change)
        rows = json.loads(self.report("--json"))["rows"]
        self.assertEqual([row["speedup"] for row in rows], [None, 2, None, None] * 2)
        rows = json.loads(self.report("--json", "--baseline", "openmp"))["rows"]
        self.assertEqual([row["speedup"] for row in rows], [0.5, None, None, None] * 2)
        said = run("report", self.output, "--baseline", "opnmp", status=2).stderr
        self.assertIn("--baseline is 'opnmp', but the backends of the run are", said)

    @needs_html_report
    def test_a_page_takes_another_baseline(self):
        page = self.folder / "page.html"
        run("report", self.output, "--baseline", "openmp", "-o", page)
        self.assertIn('"baseline":"openmp"', page.read_text())

    def test_data_sets_go_by_the_names_of_their_files(self):
        for name in ("first", "second"):
            self.write(f"{name}.csv", "1,2\n3,4\n5,6\n")
        text = """
clusters: 2
backends: [sequential]
repeats: 1
sweep: {dataset: [{file: first.csv, dtype: float64}, {file: ./second.csv}]}
"""
        run("run", self.write("files.yaml", text), "--output", self.output)
        table = self.report().splitlines()
        self.assertEqual([line.split()[0] for line in table[5:7]], ["first.csv", "second.csv"])
        self.assertIn("{file: first.csv, dtype: float64}", self.report("--json"))

    @needs_html_report
    def test_figures_without_a_browser_say_what_to_install(self):
        said = run("report", self.output, "--figures", self.folder / "figures", status=2,
                   env={"PATH": str(self.folder), "CHROMIUM": ""}).stderr
        self.assertIn("install the package chromium", said)
        self.assertEqual(said.count("\n"), 1)
        self.assertFalse((self.folder / "figures").exists())
        said = run("report", self.output, "--figures", self.folder / "figures", status=1,
                   env={"CHROMIUM": "/bin/false"}).stderr
        self.assertIn("/bin/false ended by exit(1) instead of drawing the figures", said)
        for name in ("/nonexistent", "/dev/null", str(self.folder), "no-such-browser"):
            said = run("report", self.output, "--figures", self.folder / "figures", status=2,
                       env={"CHROMIUM": name}).stderr
            self.assertIn(f"CHROMIUM is '{name}', which is no program that can be run", said)

    def test_the_ratio_to_a_less_accurate_backend_is_one_option_away(self):
        def change(record):
            if record["backend"]["name"] == "openmp":
                record["backend"]["accuracy"] = "half"
            if record["status"] == "ok":
                record["loop_ms"] = {"sequential": 6, "openmp": 3}[record["backend"]["name"]]
        self.change_records(change)
        text = " ".join(self.report().split())
        self.assertIn("less accurate: half", text)
        self.assertIn("'lloyd report FOLDER --baseline openmp' prints the ratio of sequential to it, with its accuracy",
                      text)
        text = " ".join(self.report("--baseline", "openmp").split())
        self.assertIn("0.500, 0% labels wrong", text)
        self.assertNotIn("less accurate", text)


if __name__ == "__main__":
    unittest.main()
