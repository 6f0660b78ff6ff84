"""The unit of times: for every experiment in configs/ the unit that its stop rule implies, whatever the backends do."""

import csv
import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ROOT, SMALL_EXPERIMENT, TestCase, needs_html_report, run, run_json
from test_report_page import data_of

CONFIGS = sorted(file for file in (ROOT / "configs").rglob("*.yaml"))


def stop_of(file):
    """The 'stop' section of an experiment's file, in the form of a record."""
    found = re.search(r"^stop: \{(.*)\}", file.read_text(), re.M)
    if not found:
        return {"max_iterations": 300, "tolerance": 1e-4}
    pairs = [pair.split(":") for pair in found[1].split(",")]
    return {key.strip(): float(value) if "." in value else int(value) for key, value in pairs}


class Units(TestCase):
    def setUp(self):
        super().setUp()
        run("run", self.write("template.yaml", SMALL_EXPERIMENT), "--output", self.folder / "template")
        self.template = (self.folder / "template" / "records.jsonl").read_text()

    def records_of(self, file, fewer):
        """Records of the plan of an experiment. The last variant evaluates `fewer` distances."""
        fits = run_json("run", file, "--dry-run")["fits"]
        settings = list(dict.fromkeys(fit["setting"] for fit in fits))
        variants = len(fits) // len(settings)
        lines = []
        for index, fit in enumerate(fits):
            for repeat in range(2):
                record = json.loads(self.template)
                record.update(setting=fit["setting"], axes=fit["axes"], clusters=fit["clusters"],
                              stop=stop_of(file), repeat=repeat, wrong_labels=0, inertia=1)
                record["plan"].update(setting=index // variants, settings=len(settings),
                                      variant=index % variants, variants=variants, repeats=2,
                                      baseline=fits[0]["backend"])
                record["backend"].update(label=fit["backend"], accuracy="exact")
                record["dataset"].update(samples=fit["dataset"]["samples"],
                                         features=fit["dataset"]["features"])
                record.update(iterations=3, loop_ms=30, fit_ms=100,
                              distances=fit["dataset"]["samples"] * fit["clusters"] * 4)
                if index % variants == variants - 1:
                    record.update(distances=record["distances"] - fewer, loop_ms=15, fit_ms=25)
                lines.append(json.dumps(record) + "\n")
        return self.write(f"{file.stem}-{fewer}.jsonl", "".join(lines)), variants

    def test_every_experiment_prints_the_unit_that_it_asks_for(self):
        self.assertGreaterEqual(len(CONFIGS), 19)
        for file in CONFIGS:
            with self.subTest(file.stem):
                per_iteration = "iterations" in stop_of(file)
                unit = "ms_per_iteration" if per_iteration else "ms_per_fit"
                for fewer in (0, 1):
                    records, variants = self.records_of(file, fewer)
                    marked = per_iteration and fewer > 0
                    table = run("report", records).stdout
                    self.assertEqual("ms/iteration: median" in table, per_iteration, table)
                    self.assertEqual("\n* evaluates fewer distances" in table, marked, table)
                    rows = json.loads(run("report", records, "--json").stdout)["rows"]
                    for index, row in enumerate(rows):
                        last = index % variants == variants - 1
                        self.assertEqual(row[unit], (5 if last else 10) if per_iteration
                                         else 25 if last else 100)
                        self.assertEqual(row.get("fewer_distances", False), marked and last)
                        if last and variants > 1:
                            # Ratios: 100 / 25 ms for whole fits, 10 / 5 ms per iteration.
                            self.assertEqual(row["speedup"], 2 if per_iteration and not fewer else 4)

    @needs_html_report
    def test_the_page_marks_what_the_table_marks(self):
        records, variants = self.records_of(ROOT / "configs" / "examples" / "scaling.yaml", 1)
        page = self.folder / "report.html"
        run("report", records, "-o", page)
        data = data_of(page.read_text())
        self.assertTrue(data["per_iteration"])
        self.assertIn("fewer distances", data["mark"])
        for index, row in enumerate(data["rows"]):
            last = index % variants == variants - 1
            self.assertEqual((row["marked"], row["fit_ms"]), (last, 25 if last else 100))

    def test_a_comparison_marks_what_the_table_marks(self):
        records, variants = self.records_of(ROOT / "configs" / "examples" / "scaling.yaml", 1)
        rows = run("compare", records, records, "--format", "csv").stdout.splitlines()
        for index, row in enumerate(csv.DictReader(rows)):
            last = index % variants == variants - 1
            self.assertEqual(row["old_fewer_distances"], str(last).lower())
            self.assertEqual(row["ratio_of"], "fit" if last else "iteration")
            self.assertEqual(float(row["old_ms_per_iteration"]), 5 if last else 10)


if __name__ == "__main__":
    unittest.main()
