"""lloyd run: samples and scale of a file as axes, --sweep, lists in --set, and more repeats on --resume."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import IRIS, SMALL_EXPERIMENT, TestCase, run, run_json

FILE_EXPERIMENT = f"""
dataset: {{file: '{IRIS}', dtype: float64}}
clusters: 3
backends: [sequential, openmp]
stop: {{iterations: 5}}
repeats: 1
"""


class Axes(TestCase):
    def run_config(self, text, *options, status=0):
        """The records of a run."""
        output = self.folder / "out"
        done = run("run", self.write("c.yaml", text), "--output", output, *options, status=status)
        if status != 0:
            return done.stderr
        return [json.loads(line) for line in (output / "records.jsonl").read_text().splitlines()]

    def test_samples_of_a_file_are_an_axis(self):
        records = self.run_config(FILE_EXPERIMENT + "sweep: {dataset.samples: [50, 100]}\n")
        self.assertEqual([record["dataset"]["samples"] for record in records], [50, 50, 100, 100])
        self.assertEqual(records[0]["dataset"]["source"]["samples"], 50)
        self.assertEqual(len({record["dataset"]["fingerprint"] for record in records}), 2)
        for record in records:
            self.assertEqual(record["status"], "ok")
            self.assertEqual(record["check"]["samples"], record["dataset"]["samples"])

    def test_seed_and_order_of_samples(self):
        text = FILE_EXPERIMENT + "sweep: {dataset.seed: [0, 1], dataset.shuffle: [false, true]}\n"
        records = self.run_config(text.replace("dtype: float64", "samples: 60"))
        fingerprints = [record["dataset"]["fingerprint"] for record in records if record["backend"]["name"] == "openmp"]
        self.assertEqual(len(set(fingerprints)), 4)
        start = {(record["setting"], record["inertia_after_one"]) for record in records}
        self.assertEqual(len(start), 4, "all backends of a setting start alike")

    def test_standardized_features(self):
        constant = self.write("scaled.csv", "a,b,c\n1,1000,7\n2,3000,7\n3,2000,7\n4,4000,7\n")
        text = FILE_EXPERIMENT.replace(str(IRIS), str(constant)).replace("clusters: 3", "clusters: 1")
        plain, scaled = (self.run_config(text.replace("dtype: float64", f"dtype: float64, standardize: {choice}"))
                         for choice in ("false", "true"))
        self.assertAlmostEqual(plain[-1]["inertia"], 5 + 5e6, delta=1e-6)
        self.assertAlmostEqual(scaled[-1]["inertia"], 4 + 4, delta=1e-12)  # n for each feature that varies
        self.assertTrue(scaled[-1]["dataset"]["source"]["standardize"])

    def test_given_centroids_have_the_units_of_the_file(self):
        data = self.write("d.csv", "age,income\n" + "".join(f"{20 + i % 40},{1000 * (i % 7)}\n" for i in range(60)))
        start = self.write("start.csv", "age,income\n25,0\n45,6000\n55,3000\n")
        text = FILE_EXPERIMENT.replace(str(IRIS), str(data)).replace("float64", "float64, standardize: true")
        seeding = f"seeding: {{file: '{start}'}}\n"
        fit = run_json("fit", data, "-k", "3", "--standardize", "--dtype", "float64", "--seeding", start,
                       "--iterations", "5")
        for record in self.run_config(text + seeding):
            self.assertAlmostEqual(record["inertia"], fit["inertia"], delta=1e-9)
        start.write_text("income,age\n0,25\n6000,45\n3000,55\n")
        self.assertIn("column 0 of start.csv is 'income', but feature 0 of d.csv is 'age'".replace("start.csv", str(start)),
                      self.run_config(text + seeding, status=2))

    def test_wrong_values(self):
        for old, new, sentence in (
                ("dtype: float64", "samples: 151", "'dataset.samples' is 151, but iris.csv has 150 samples"),
                ("dtype: float64", "samples: 0", "'dataset.samples' must be"),
                ("dtype: float64", "shuffle: 1", "'dataset.shuffle' must be"),
                (f"file: '{IRIS}'", "blobs: {}, samples: 10",
                 "'dataset.samples' is for files; blobs have 'dataset.blobs.samples'")):
            said = self.run_config(FILE_EXPERIMENT.replace(old, new), status=2)
            self.assertIn(sentence, said)
            self.assertIn("c.yaml:2:", said)

    def test_sweep_adds_and_replaces_axes(self):
        config = self.write("c.yaml", SMALL_EXPERIMENT)
        plan = run_json("run", config, "--dry-run", "--sweep", "clusters=[2, 3]", "--sweep",
                        "dataset.blobs.samples=[50, 60, 70]")
        self.assertEqual([fit["axes"] for fit in plan["fits"]],
                         [{"clusters": str(k), "dataset.blobs.samples": str(n)} for n in (50, 60, 70)
                          for k in (2, 3)])
        swept = self.write("swept.yaml", SMALL_EXPERIMENT + "sweep: {clusters: [2, 3]}\n")
        plan = run_json("run", swept, "--dry-run", "--sweep", "clusters=[5, 6, 7]")
        self.assertEqual([fit["axes"] for fit in plan["fits"]],
                         [{"clusters": "5"}, {"clusters": "6"}, {"clusters": "7"}])

    def test_a_list_of_set_is_an_axis(self):
        config = self.write("c.yaml", SMALL_EXPERIMENT)
        plan = run_json("run", config, "--dry-run", "--set", "stop.iterations=[1, 2]")
        self.assertEqual([fit["axes"] for fit in plan["fits"]],
                         [{"stop.iterations": "1"}, {"stop.iterations": "2"}])
        file = self.write("file.yaml", FILE_EXPERIMENT.replace(", openmp", ""))
        plan = run_json("run", file, "--dry-run", "--set", "dataset.columns=[0, 1]")
        self.assertEqual([(fit["axes"], fit["dataset"]["features"]) for fit in plan["fits"]], [({}, 2)])
        plan = run_json("run", file, "--dry-run", "--set", "dataset.drop_columns=[0]")
        self.assertEqual([fit["axes"] for fit in plan["fits"]], [{}])
        plan = run_json("run", file, "--dry-run", "--sweep", "dataset.columns=[[0], [0, 1]]")
        self.assertEqual([fit["dataset"]["features"] for fit in plan["fits"]], [1, 2])

    def test_a_key_without_value_is_removed(self):
        config = self.write("c.yaml", SMALL_EXPERIMENT + "sweep: {seeding.seed: [2, 3], restarts: [1, 2]}\n")
        plan = run_json("run", config, "--dry-run", "--set", "clusters=", "--set", "seeding.seed=", "--set",
                        "stop.iterations=")
        self.assertEqual([fit["axes"] for fit in plan["fits"]], [{"restarts": "1"}, {"restarts": "2"}])
        self.assertEqual(plan["fits"][0]["clusters"], 8)
        self.assertIn("no such key to remove",
                      run("run", config, "--dry-run", "--set", "stop.tolerance=", status=2).stderr)

    def test_a_file_instead_of_blobs_with_axes_is_refused_with_what_to_set(self):
        plain = self.write("plain.yaml", SMALL_EXPERIMENT)
        one = self.write("one.yaml", SMALL_EXPERIMENT + "sweep: {dataset.blobs.samples: [50, 60], clusters: [2, 3]}\n")
        two = self.write("two.yaml", SMALL_EXPERIMENT
                         + "sweep: {dataset.blobs.samples: [50, 60], dataset.blobs.seed: [1, 2]}\n")
        file = f"dataset={{file: '{IRIS}'}}"
        remove = "--set dataset.blobs.samples="
        for config, value, sentence in (
                (plain, "dataset.file=a.csv", "--set dataset.file:1:1: 'dataset.file' cannot be set beside "
                 "'dataset.blobs'; replace the data set: --set 'dataset={file: a.csv}'\n"),
                (one, "dataset.file=a.csv", "beside 'dataset.blobs' and the axis 'dataset.blobs.samples'; replace the "
                 f"data set: --set 'dataset={{file: a.csv}}' {remove}\n"),
                (one, file, "--set dataset:1:1: the axis 'dataset.blobs.samples' needs 'dataset.blobs', but the data set "
                 f"is a file; add {remove}\n"),
                (two, file, "the axes 'dataset.blobs.samples' and 'dataset.blobs.seed' need 'dataset.blobs', but the data "
                 f"set is a file; add {remove} --set dataset.blobs.seed=\n")):
            self.assertIn(sentence, run("run", config, "--dry-run", "--set", value, status=2).stderr)
        plan = run_json("run", one, "--dry-run", "--set", file, "--set", "dataset.blobs.samples=")
        self.assertEqual([fit["axes"] for fit in plan["fits"]], [{"clusters": "2"}, {"clusters": "3"}])
        self.assertEqual(plan["fits"][0]["dataset"]["samples"], 150)

    def test_sweep_refuses_what_is_no_axis(self):
        config = self.write("c.yaml", SMALL_EXPERIMENT)
        for text, sentence in (
                ("clusters=8", "--sweep clusters:1:1: the axis 'clusters' must be a list of values, such as [8, 16], "
                               "not '8'"),
                ("clusters=8,16", "the axis 'clusters' must be a list of values, such as [8,16], not '8,16'"),
                ("clusters", "--sweep takes KEY=LIST, such as clusters=[8, 16], not 'clusters'"),
                ("repeats=[1, 2]", "'repeats' cannot be swept"),
                ("cluster=[1, 2]", "unknown key 'cluster' in 'sweep' (did you mean 'clusters'?)"),
                ("clusters=[]", "the axis 'clusters' must be a list of values, not an empty one"),
                (".a=[1]", "--sweep: the key '.a' has an empty part")):
            self.assertIn(sentence, run("run", config, "--dry-run", "--sweep", text, status=2).stderr)


class MoreRepeats(TestCase):
    def test_a_complete_run_is_extended(self):
        config = self.write("c.yaml", SMALL_EXPERIMENT)
        records = self.folder / "out" / "records.jsonl"
        run("run", config, "--output", self.folder / "out", "--repeats", "2")
        before = records.read_bytes()
        done = run("run", config, "--output", self.folder / "out", "--repeats", "5", "--resume")
        self.assertIn("3 of 5 trials left", done.stderr)
        self.assertTrue(records.read_bytes().startswith(before))
        lines = [json.loads(line) for line in records.read_text().splitlines()]
        self.assertEqual([(line["repeat"], line["plan"]["repeats"]) for line in lines],
                         [(0, 2), (1, 2), (2, 5), (3, 5), (4, 5)])
        self.assertEqual(len({line["run"] for line in lines}), 1)
        report = json.loads(run("report", self.folder / "out", "--json").stdout)
        self.assertEqual([row["trials"] for row in report["rows"]], [5])
        again = run("run", config, "--output", self.folder / "out", "--repeats", "5", "--resume")
        self.assertIn("is complete: nothing is left to do", again.stderr)

    def test_fewer_repeats_are_refused(self):
        config = self.write("c.yaml", SMALL_EXPERIMENT)
        run("run", config, "--output", self.folder / "out", "--repeats", "3")
        said = run("run", config, "--output", self.folder / "out", "--repeats", "2", "--resume", status=2).stderr
        self.assertIn("'repeats' was 3 and is 2", said)


class Baseline(TestCase):
    def test_a_label_names_the_baseline(self):
        config = self.write("c.yaml", "dataset: {blobs: {samples: 50}}\nclusters: 2\nrepeats: 1\n"
                            "backends: [sequential, openmp: {threads: [1, 2]}]\nbaseline: openmp threads=2\n")
        done = run("run", config, "--output", self.folder / "out")
        self.assertRegex(done.stdout, r"openmp threads=2 .*baseline")


if __name__ == "__main__":
    unittest.main()
