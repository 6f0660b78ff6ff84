"""Adjusted Rand index and silhouette in records, tables and pages."""

import csv
import io
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import IRIS, TestCase, needs_html_report, run, run_json

CONFIG = f"""
dataset: {{file: '{IRIS}'}}
backends: [sequential, openmp: {{threads: 1}}]
baseline: sequential
restarts: 3
repeats: 2
sweep: {{clusters: [2, 3]}}
"""


class ClusterQuality(TestCase):
    def run_experiment(self, text, *options):
        output = self.folder / "out"
        said = run("run", self.write("c.yaml", text), "--output", output, *options).stdout
        records = [json.loads(line) for line in (output / "records.jsonl").read_text().splitlines()]
        return said, records

    def test_records_have_the_values_of_fit(self):
        tried = run_json("fit", IRIS, "-k", "2..3", "--restarts", "3")["tried"]
        silhouettes = {one["clusters"]: one["simplified_silhouette"] for one in tried}
        indices = {k: run_json("fit", IRIS, "-k", k, "--restarts", "3")["adjusted_rand_index"] for k in (2, 3)}
        for isolate in ("worker", "none"):
            said, records = self.run_experiment(CONFIG + f"silhouette: true\nisolate: {isolate}\n")
            self.assertEqual(len(records), 8)
            for record in records:
                k = record["clusters"]
                checked = record["check"] is not None
                self.assertEqual(checked, record["repeat"] == 0)
                self.assertEqual(record["adjusted_rand_index"], indices[k] if checked else None)
                self.assertEqual(record["simplified_silhouette"], silhouettes[k] if checked else None)
                self.assertEqual(record["silhouette_samples"], 150 if checked else None)
            self.assertRegex(said, r"(?m)^clusters +backend .* inertia +ARI +silhouette +speedup")
            self.assertRegex(said, rf"(?m)^ +3 +openmp .* {indices[3]:.3f} +{silhouettes[3]:.3f} ")
            self.assertIn("ARI: adjusted Rand index against the classes", said)
            for path in (self.folder / "out").iterdir():
                path.unlink()

    def test_reports_show_them(self):
        self.run_experiment(CONFIG + "silhouette: true\n")
        report = ["report", self.folder / "out"]
        rows = list(csv.DictReader(io.StringIO(run(*report, "--format", "csv").stdout)))
        self.assertEqual([row["adjusted_rand_index"][:4] for row in rows], ["0.53"] * 2 + ["0.73"] * 2)
        self.assertEqual([row["simplified_silhouette"][:4] for row in rows], ["0.76"] * 2 + ["0.66"] * 2)
        row = json.loads(run(*report, "--format", "json").stdout)["rows"][0]
        self.assertAlmostEqual(row["simplified_silhouette"], 0.7697, delta=1e-4)
        for form, header in (("text", "ARI  silhouette"), ("markdown", "ARI | silhouette"),
                             ("latex", "ARI & silhouette")):
            self.assertIn(header, run(*report, "--format", form).stdout)

    @needs_html_report
    def test_the_page_has_them(self):
        self.run_experiment(CONFIG)
        run("report", self.folder / "out", "-o", self.folder / "page.html")
        page = (self.folder / "page.html").read_text()
        self.assertIn('"adjusted_rand_index":0.73', page)
        self.assertIn('"simplified_silhouette":null', page)

    def test_without_classes_or_request_there_is_no_column(self):
        said, records = self.run_experiment("""
dataset: {blobs: {samples: 100}}
backends: [sequential]
repeats: 1
""")
        self.assertNotIn("ARI", said)
        self.assertNotIn("silhouette", said)
        self.assertIsNone(records[0]["adjusted_rand_index"])
        self.assertIsNone(records[0]["simplified_silhouette"])
        self.assertIsNone(records[0]["silhouette_samples"])

    def test_the_silhouette_can_be_set(self):
        _, records = self.run_experiment("{dataset: {blobs: {samples: 100}}, backends: [sequential], repeats: 1}",
                                         "--set", "silhouette=true")
        self.assertGreater(records[0]["simplified_silhouette"], 0)


if __name__ == "__main__":
    unittest.main()
