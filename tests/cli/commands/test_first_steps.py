"""What new users of fit and predict do first, and the messages that guide them."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import IRIS, TestCase, run, run_json


def warnings(done):
    return [line for line in done.stderr.splitlines() if "warning" in line]


class Fit(TestCase):
    def test_more_clusters_than_distinct_samples_are_warned_of(self):
        data = self.write("d.csv", "1,1\n1,1\n2,2\n2,2\n3,3\n3,3\n")
        self.assertEqual(warnings(run("fit", data, "-k", "5")),
                         ["lloyd: warning: d.csv has only 3 distinct samples, so 2 of the 5 clusters are empty"])
        self.assertEqual(warnings(run("fit", data, "-k", "3")), [])

    def test_other_empty_clusters_are_warned_of(self):
        data = self.write("d.csv", "1,1\n2,1\n3,2\n")
        start = self.write("c.csv", "1,1\n90,90\n")
        done = run("fit", data, "-k", "2", "--seeding", start, "--empty-clusters", "keep")
        self.assertEqual(warnings(done), ["lloyd: warning: 1 of the 2 clusters is empty"])

    def test_names_taken_as_classes_are_warned_of(self):
        data = self.write("d.csv", "x,y,name\n" + "".join(f"{i % 7},{i * i % 5},person {i}\n" for i in range(20)))
        found = warnings(run("fit", data, "-k", "3"))
        self.assertEqual(found, [f"lloyd: warning: {data}: the last column is text and is taken as classes, but 20 of "
                                 "the first 20 values are distinct, as names are; --drop-columns name leaves it out"])
        for k in ("3", "2..4"):
            self.assertEqual(run_json("fit", data, "-k", k, "--standardize")["warnings"],
                             [line.removeprefix("lloyd: warning: ") for line in found])
        for options in (["--drop-columns", "2"], ["--label-column", "name"]):
            self.assertEqual(warnings(run("fit", data, "-k", "3", *options)), [])
        self.assertEqual(warnings(run("fit", IRIS, "-k", "3")), [])
        experiment = self.write("c.yaml", f"dataset: {{file: {data}}}\nclusters: 3\nbackends: [sequential]\nrepeats: 1\n"
                                "sweep: {seeding.seed: [1, 2]}\n")
        self.assertEqual(warnings(run("run", experiment, "--output", self.folder / "out")),
                         [found[0].replace("--drop-columns name", "'dataset.drop_columns: [name]'")])

    def test_centroids_are_printed_below_the_names_of_features(self):
        names = "sepal_length sepal_width petal_length petal_width"
        self.assertEqual(run("fit", IRIS, "-k", "3").stdout.split("centroid\n")[1].splitlines()[0].split(), names.split())
        long = self.write("d.csv", "a_name_of_more_than_16_bytes,y\n1,2\n3,4\n")
        lines = run("fit", long, "-k", "2").stdout.split("centroid\n")[1].splitlines()
        self.assertEqual(lines[0].split(), ["a_name_of_more_t...", "y"])
        self.assertEqual([line.rindex(line.split()[-1]) + 1 for line in lines], [len(lines[0])] * 3)
        bare = self.write("e.csv", "1,2\n3,4\n")
        self.assertEqual(len(run("fit", bare, "-k", "2").stdout.split("centroid\n")[1].splitlines()), 2)

    def test_files_of_an_earlier_fit_are_named(self):
        out = self.folder / "out"
        self.assertNotIn("earlier", run("fit", IRIS, "-k", "2..4", "-o", out).stderr)
        said = run("fit", IRIS, "-k", "3", "-o", out, "--format", "npy").stderr
        self.assertIn(f"lloyd: labels.csv, centroids.csv and criteria.svg in {out} were not written by this fit\n", said)

    def test_a_small_limit_of_memory_is_printed_in_bytes(self):
        self.assertIn("; the limit is 1000 bytes\n",
                      run("fit", IRIS, "-k", "3", "--memory-limit", "1KB", status=2).stderr)


class Predict(TestCase):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"

    def test_distances_alone_print_no_labels(self):
        run("fit", IRIS, "-k", "3", "-o", self.out)
        done = run("predict", self.out / "model.json", IRIS, "--distances", self.folder / "d.csv")
        self.assertEqual(len(done.stdout.splitlines()), 1)
        self.assertIn("labelled 150 samples", done.stdout)

    def test_centroids_of_a_standardized_fit_are_warned_of(self):
        fit = ["fit", IRIS, "-k", "3", "--standardize"]
        run(*fit, "-o", self.out)
        labels = ["--labels", self.folder / "l.csv"]
        found = warnings(run("predict", self.out / "centroids.csv", IRIS, *labels))
        self.assertEqual(len(found), 1)
        self.assertIn("the samples are not standardized as in the fit", found[0])
        self.assertTrue(found[0].endswith(f"{self.out / 'model.json'} has the scaling"), found)
        self.assertEqual(warnings(run("predict", self.out / "model.json", IRIS, *labels)), [])
        self.assertIn("--model FILE.json saves it", run(*fit, "--centroids", self.folder / "c.csv").stderr)
        run("fit", IRIS, "-k", "3", "-o", self.out)
        self.assertEqual(warnings(run("predict", self.out / "centroids.csv", IRIS, *labels)), [])

    def test_further_columns_name_the_option_that_chooses(self):
        run("fit", IRIS, "-k", "3", "--columns", "petal_length,sepal_width", "-o", self.out)
        self.assertIn("iris.csv has 4 features, but the model {} has 2; the model knows 'petal_length' and 'sepal_width', "
                      "but not 'sepal_length' and 'petal_width'; --columns petal_length,sepal_width chooses the model's "
                      "features\n".format(self.out / "model.json"),
                      run("predict", self.out / "model.json", IRIS, status=2).stderr)
        headless = self.write("h.csv", IRIS.read_text().split("\n", 1)[1])
        self.assertIn("; --columns with numbers, counted from 0, chooses those that are 'petal_length' and 'sepal_width'\n",
                      run("predict", self.out / "model.json", headless, status=2).stderr)
        labels = run("predict", self.out / "model.json", headless, "--columns", "2,1").stdout
        self.assertEqual(labels, run("predict", self.out / "model.json", IRIS, "--columns", "petal_length,sepal_width").stdout)
        bare = self.write("d.csv", "1,2\n3,4\n")
        run("fit", bare, "-k", "2", "-o", self.out)
        self.assertIn("; --columns chooses the columns that are the model's features\n",
                      run("predict", self.out / "model.json", IRIS, status=2).stderr)


if __name__ == "__main__":
    unittest.main()
