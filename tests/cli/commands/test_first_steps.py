"""What new users of fit do first, and the messages that lead them on."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import IRIS, TestCase, run


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
        self.assertEqual(warnings(done), ["lloyd: warning: 1 of the 2 clusters are empty"])

    def test_names_taken_as_classes_are_warned_of(self):
        data = self.write("d.csv", "x,y,name\n" + "".join(f"{i % 7},{i * i % 5},person {i}\n" for i in range(20)))
        found = warnings(run("fit", data, "-k", "3"))
        self.assertEqual(found, [f"lloyd: warning: {data}: the last column is text and is taken as classes, but 20 of "
                                 "the first 20 values are distinct, as names are; --drop-columns 2 leaves it out"])
        for options in (["--drop-columns", "2"], ["--label-column", "name"]):
            self.assertEqual(warnings(run("fit", data, "-k", "3", *options)), [])
        self.assertEqual(warnings(run("fit", IRIS, "-k", "3")), [])

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
        self.assertIn(f"lloyd: labels.csv, centroids.csv and criteria.svg in {out} are from an earlier fit\n", said)


if __name__ == "__main__":
    unittest.main()
