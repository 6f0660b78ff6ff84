"""lloyd fit --plot: a picture of the clusters."""

import json
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import IRIS, ROOT, TestCase, run

SVG = "{http://www.w3.org/2000/svg}"


class Picture:
    def __init__(self, file):
        root = xml.etree.ElementTree.parse(file).getroot()
        self.texts = [text.text for text in root.iter(SVG + "text")]
        self.dots = [path for path in root.find(f"{SVG}g[@class='d']")]
        self.centroids = root.findall(f"{SVG}g[@class='m']/{SVG}path")

    def samples(self):
        return sum(path.get("d").count("M") for path in self.dots)


class Plot(TestCase):
    def fit(self, data, *options):
        file = self.folder / "plot.svg"
        run("fit", data, "--backend", "sequential", "--plot", file, *options)
        return Picture(file)

    def test_iris(self):
        picture = self.fit(IRIS, "-k", "3", "--restarts", "5")
        self.assertEqual(picture.samples(), 150)
        self.assertEqual(len(picture.centroids), 3)
        self.assertEqual(picture.texts[:3], ["iris.csv", "n = 150, d = 4, k = 3, inertia 78.85144",
                                             "both axes have the same scale"])
        # Explained variance by scikit-learn's PCA: 0.92461872, 0.05306648.
        self.assertIn("first principal axis (92.5 % of the variance)", picture.texts)
        self.assertIn("second principal axis (5.3 % of the variance)", picture.texts)
        sizes = [int(size[1]) for text in picture.texts if (size := re.match(r"cluster \d+: (\d+) samples", text))]
        self.assertEqual(sizes, [62, 50, 38])
        colours = (ROOT / "apps" / "report" / "page" / "style" / "colours.css").read_text()
        light = dict(re.findall(r"--series-(\d): (#\w+);", colours[:colours.index('[data-theme="dark"]')]))
        self.assertEqual([path.get("stroke") for path in picture.dots], [light[rank] for rank in "123"])

    def test_standardized_data_is_drawn_as_clustered(self):
        picture = self.fit(IRIS, "-k", "3", "--standardize")
        # PCA of the standardized features: 0.72962445, 0.22850762.
        self.assertIn("first principal axis (73.0 % of the variance)", picture.texts)
        self.assertIn("second principal axis (22.9 % of the variance)", picture.texts)
        self.assertEqual(picture.texts[2], "standardized features, as clustered; both axes have the same scale")

    def test_one_feature_and_constant_data(self):
        one = self.write("one.csv", "height\n1\n2\n8\n9\n")
        picture = self.fit(one, "-k", "2")
        self.assertIn("the only feature height (100 % of the variance)", picture.texts)
        self.assertEqual(picture.samples(), 4)
        constant = self.write("constant.csv", "3,4\n" * 5)
        picture = self.fit(constant, "-k", "1")
        self.assertIn("first principal axis (0.0 % of the variance)", picture.texts)
        self.assertEqual(picture.samples(), 5)

    def test_the_plot_of_a_range_is_of_the_suggested_k(self):
        picture = self.fit(IRIS, "-k", "2..4", "--restarts", "5")
        self.assertIn("n = 150, d = 4, k = 2, inertia 152.34795", picture.texts)
        self.assertEqual(len(picture.centroids), 2)
        self.assertEqual(picture.samples(), 150)

    def test_large_data_in_blocks_gives_the_same_picture(self):
        data = self.folder / "blobs.npy"
        run("data", "blobs", data, "--samples", "1000000", "--features", "16", "--centers", "30", "--seed", "1")
        plots = [self.folder / "whole.svg", self.folder / "blocks.svg"]
        fit = ["fit", data, "-k", "30", "--iterations", "1", "--backend", "sequential", "--seeding", "random"]
        run(*fit, "--plot", plots[0])
        said = run(*fit, "--plot", plots[1], "--memory-limit", "80MiB").stderr
        self.assertIn("is read in blocks", said)
        self.assertNotIn("peak memory", said)
        self.assertEqual(plots[0].read_bytes(), plots[1].read_bytes())
        picture = Picture(plots[0])
        self.assertEqual(picture.samples(), 20000)
        self.assertIn("a random sample of 20000 samples (seed 0) is drawn", picture.texts[2])
        # Memory for the plot is part of the plan.
        run(*fit, "--memory-limit", "42MiB")
        refused = run(*fit, "--plot", plots[1], "--memory-limit", "42MiB", status=2).stderr
        self.assertIn("MiB those of the requested outputs", refused)

    def test_the_output_is_checked_before_the_fit(self):
        for file, sentence in ((self.folder / "plot.png", "plot.png"),
                               (self.folder / "missing" / "plot.svg", "missing")):
            said = run("fit", IRIS, "--plot", file, status=2)
            self.assertIn(sentence, said.stderr)
            self.assertEqual(said.stdout, "")
        link = self.folder / "link.svg"
        data = self.write("data.csv", "1,2\n3,4\n")
        link.hardlink_to(data)
        said = run("fit", data, "-k", "1", "--plot", link, status=2)
        self.assertIn("is read, so it cannot be written too", said.stderr)
        same = self.folder / "same.svg"
        said = run("fit", IRIS, "-k", "2..3", "--plot", same, "--criteria", same, status=2)
        self.assertIn("same.svg", said.stderr)

    def test_the_result_stays_the_same(self):
        fit = ["fit", IRIS, "-k", "3", "--backend", "sequential", "--json"]
        drawn = json.loads(run(*fit, "--plot", self.folder / "plot.svg").stdout)
        self.assertEqual(drawn["counts"], json.loads(run(*fit).stdout)["counts"])


if __name__ == "__main__":
    unittest.main()
