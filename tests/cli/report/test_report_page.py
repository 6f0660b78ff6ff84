"""`lloyd report -o` writes one page: its parts, its size, and refused requests."""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from chosen_times import set_times
from program import SANITIZED, TestCase, needs_html_report, run

CONFIG = """
experiment: drawn
dataset:
  blobs: {samples: 500, features: 2, centers: 4}
backends: [sequential, openmp: {threads: [1, 2]}]
baseline: sequential
repeats: 2
trace: true
sweep: {clusters: [2, 3]}
output: OUTPUT
"""
LABELS = ("sequential", "openmp threads=1", "openmp threads=2")


def data_of(page):
    """The data embedded in a page."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


@needs_html_report
class ReportPage(TestCase):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "out"
        self.records = self.output / "records.jsonl"
        self.page = self.folder / "report.html"
        self.config = self.write("config.yaml", CONFIG.replace("OUTPUT", str(self.output)))

    def refusal(self, *arguments):
        done = run("report", *arguments, status=2)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def run_with(self, repeats):
        """Runs the configuration with other repeats, without traces."""
        text = CONFIG.replace("OUTPUT", str(self.output)).replace("trace: true", "").replace("repeats: 2", repeats)
        run("run", self.write("config.yaml", text))

    def data_with_times(self, *times):
        """The page's data with these times of sequential, and of openmp with one and two threads."""
        self.chosen = self.folder / "chosen.jsonl"
        set_times(self.records, dict(zip(LABELS, times)), self.chosen)
        run("report", self.chosen, "-o", self.page)
        return data_of(self.page.read_text())

    def test_page_has_what_the_records_have(self):
        run("run", self.config)
        done = run("report", self.output, "-o", self.page)
        self.assertEqual((done.stdout, done.stderr), ("", f"wrote {self.page}\n"))
        data = data_of(self.page.read_text())
        rows = json.loads(run("report", self.output, "--json").stdout)["rows"]
        records = [json.loads(line) for line in self.records.read_text().splitlines()]
        self.assertEqual(len(data["rows"]), len(rows))
        for drawn, row in zip(data["rows"], rows):
            self.assertEqual((drawn["backend"], drawn["axes"]["clusters"]), (row["backend"], str(row["clusters"])))
            self.assertAlmostEqual(drawn["time"]["value"] / row["ms_per_fit"], 1, places=5)
            own = [r for r in records if (r["backend"]["label"], r["setting"]) == (row["backend"], row["setting"])]
            self.assertEqual(drawn["times"], [float(f"{r['fit_ms']:.6g}") for r in own])
            self.assertEqual(["trace" in record for record in own], [False, True])
            self.assertEqual(drawn["trace"]["inertia"][-1], float(f"{own[-1]['inertia']:.6g}"))
            self.assertEqual(drawn["trace"]["iteration"][-1], own[-1]["iterations"])
        self.assertEqual([data["rows"][r["row"]]["backend"] for r in data["replays"]], ["sequential"] * 2)

    def test_trials_are_counted_as_they_were_made(self):
        self.run_with("repeats: 7")
        data = self.data_with_times([5] * 7, [4] * 6, [3])
        self.assertEqual((data["repeats"], data["until"]), (7, False))
        self.assertEqual(data["trials"], {"fewest": 1, "most": 7, "for_interval": 6})
        self.assertEqual([row["trials"] for row in data["rows"]], [7, 6, 1] * 2)

    def test_until_makes_more_trials_than_repeats(self):
        self.run_with("repeats: 2\nuntil: {relative_error: 1, max_seconds: 600}")
        run("report", self.output, "-o", self.page)
        data = data_of(self.page.read_text())
        self.assertEqual((data["repeats"], data["until"]), (2, True))
        counts = [len(row["times"]) for row in data["rows"]]
        self.assertEqual((data["trials"]["fewest"], data["trials"]["most"]), (min(counts), max(counts)))
        self.assertGreater(max(counts), 2)

    def test_noise_is_what_the_tables_say(self):
        self.run_with("repeats: 12")
        wide, outlier = [10, 12, 8, 11, 9, 10] * 2, [5, 5.01, 4.99, 5.02, 4.98, 5, 5.01, 4.99, 5.02, 4.98, 5, 50]
        data = self.data_with_times(wide, outlier, [3, 4, 5])
        rows = json.loads(run("report", self.chosen, "--json").stdout)["rows"]
        for drawn, row in zip(data["rows"], rows):
            if row["backend"] == "openmp threads=2":
                self.assertFalse({"spread", "outliers"} & drawn.keys(), "of fewer than six")
                continue
            self.assertAlmostEqual(drawn["spread"], row["spread"], places=5)
            self.assertEqual(drawn["outliers"], row["outliers"])
        self.assertEqual(data["rows"][1]["outliers"], 1)
        self.assertAlmostEqual(data["rows"][0]["spread"], 0.14826, places=5)
        self.assertRegex(data["noise"], "^noisy: sequential with clusters 2 varies by 15% between rounds, 1 other row")
        table = " ".join(run("report", self.chosen).stdout.split())
        self.assertIn(data["noise"], table)
        quiet = self.data_with_times([5] * 12, [4] * 12, [3] * 12)["noise"] or ""
        self.assertNotIn("varies by", quiet)

    def test_records_without_traces_are_drawn_too(self):
        run("run", self.config, "--set", "trace=false")
        self.assertNotIn('"trace"', self.records.read_text())
        run("report", self.records, "-o", self.page)
        self.assertNotIn("trace", data_of(self.page.read_text())["rows"][0])

    def test_ceilings_are_those_of_the_doctor(self):
        run("run", self.config)
        rate = {"one_thread": 1.5, "all_threads": 3}
        doctor = {"cpu": {"model": "another one"}, "ceilings": {
            "instruction_set": "AVX2", "threads": 2, "float32_gflops": rate, "float64_gflops": rate,
            "read_gbs": rate}}
        file = self.write("doctor.json", json.dumps(doctor))
        done = run("report", self.output, "-o", self.page, "--ceilings", file)
        self.assertIn("the ceilings are from another processor (another one) than the records", done.stderr)
        self.assertEqual(data_of(self.page.read_text())["ceilings"]["read_gbs"], rate)

    def test_names_in_the_records_do_not_become_markup(self):
        text = CONFIG.replace("experiment: drawn", "experiment: \"</script><img src=x onerror=alert(1)>\"")
        run("run", self.write("config.yaml", text.replace("OUTPUT", str(self.output))))
        run("report", self.output, "-o", self.page)
        page = self.page.read_text()
        self.assertNotIn("<img", page)
        self.assertEqual(data_of(page)["experiment"], "</script><img src=x onerror=alert(1)>")

    @unittest.skipIf(SANITIZED, "the plain build shows it")
    def test_500_trials_make_less_than_3_megabytes(self):
        clusters = ", ".join(str(k) for k in range(2, 52))
        text = CONFIG.replace("[1, 2]", "1").replace("repeats: 2", "repeats: 5").replace("[2, 3]", f"[{clusters}]")
        run("run", self.write("config.yaml", text.replace("OUTPUT", str(self.output))))
        self.assertEqual(len(self.records.read_text().splitlines()), 500)
        run("report", self.output, "-o", self.page)
        data = data_of(self.page.read_text())
        self.assertEqual(sum(len(row["times"]) for row in data["rows"]), 500)
        self.assertEqual(len(data["replays"]) + data["replays_left_out"], 50)
        self.assertGreater(len(data["replays"]), 10)
        self.assertLess(self.page.stat().st_size, 3_000_000)

    def test_bad_outputs_are_refused_and_nothing_is_written(self):
        run("run", self.config)
        before = self.records.read_bytes()
        self.assertEqual(self.refusal(self.output, "-o", self.records),
                         f"lloyd: {self.records}: the extension '.jsonl' is unknown; .html can be written\n")
        page = self.write("records.html", before)
        self.assertEqual(self.refusal(page, "-o", page), f"lloyd: {page} is read, so it cannot be written too\n")
        self.assertEqual(page.read_bytes(), before)
        missing = self.folder / "missing" / "report.html"
        self.assertEqual(self.refusal(self.output, "-o", missing),
                         f"lloyd: {missing}: cannot write the file: {missing.parent} is not a folder\n")
        folder = self.folder / "folder.html"
        folder.mkdir()
        self.assertIn("is not a regular file", self.refusal(self.output, "-o", folder))
        self.assertIn("holds no records", self.refusal(self.write("e", ""), "-o", self.page))
        self.assertEqual(self.refusal(self.output, "-o", "my r.csv", "--format", "csv"),
                         "lloyd: --format and --output cannot be given together; redirect the output instead: > 'my r.csv'\n")
        self.assertIn("--json and --output cannot be given together", self.refusal(self.output, "-o", self.page, "--json"))
        self.assertEqual(self.refusal(self.output, "-o", "r.md"),
                         "lloyd: r.md: --output writes .html; --format markdown > r.md writes this file\n")
        self.assertIn("needs --output or --figures too", self.refusal(self.output, "--ceilings", self.records))
        self.assertIn("cannot be opened",
                      self.refusal(self.output, "-o", self.page, "--ceilings", self.folder / "none"))
        self.assertFalse(self.page.exists())

    def test_bad_traces_are_refused(self):
        run("run", self.config)
        lines = self.records.read_text().splitlines()
        for number, line in enumerate(lines, 1):
            if '"trace"' in line:
                record = json.loads(line)
                record["trace"]["inertia"].append(1)
                lines[number - 1] = json.dumps(record)
                break
        bad = self.write("bad.jsonl", "\n".join(lines) + "\n")
        self.assertRegex(self.refusal(bad), rf"bad.jsonl:{number}: 'trace.elapsed_ms' is a list, not a list of \d+ numbers")


if __name__ == "__main__":
    unittest.main()
