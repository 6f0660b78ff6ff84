"""Files written by earlier versions of the program can still be read."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ROOT, TestCase, run, run_json

# Two iterations on a grid of 19 x 9 points whose middle column is halfway between the two initial centroids.
STORED = ROOT / "tests" / "cli" / "written_by_0.1.0"


class EarlierVersions(TestCase):
    def test_records_of_version_0_1_0_are_read(self):
        records = [json.loads(line) for line in (STORED / "run" / "records.jsonl").read_text().splitlines()]
        self.assertEqual({record["machine"]["lloyd"] for record in records}, {"0.1.0"})
        self.assertEqual({record["redecided"] for record in records}, {None, 9})
        report = run("report", STORED / "run").stdout
        for name in ("sequential", "openmp"):
            self.assertRegex(report, rf"(?m)^{name} .* 2422\.5 ")

    def test_models_of_version_0_1_0_are_read(self):
        data = self.write("data.csv", "x,y\n-9,0\n-8,1\n8,1\n")
        self.assertEqual(run_json("predict", STORED / "model.json", data)["counts"], [2, 1])


if __name__ == "__main__":
    unittest.main()
