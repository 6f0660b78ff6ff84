"""lloyd fit with a range of k: the criteria of each k and the suggested one."""

import csv
import json
import math
import pathlib
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import IRIS, TestCase, run, run_json

# Iris, by scikit-learn 1.9.1: KMeans(k, n_init=50, tol=0), its inertia, calinski_harabasz_score and
# davies_bouldin_score of its labels, and the simplified silhouette by NumPy from the definition.
# k: (inertia, simplified silhouette, Calinski-Harabasz, Davies-Bouldin)
IRIS_CRITERIA = {
    2: (152.3479517603579, 0.7697038327173392, 513.9245459802768, 0.40429283717304343),
    3: (78.851441426146, 0.6663855564711182, 561.62775662962, 0.6619715465007465),
    4: (57.22847321428572, 0.620738040376526, 530.7658081872851, 0.7803069838811107),
    5: (46.446182051282065, 0.6143759275036635, 495.54148767768777, 0.8059652120182736),
}
FIT_IRIS = ["fit", IRIS, "-k", "2..5", "--restarts", "30", "--tolerance", "0", "--dtype", "float64"]


def criteria_by_definition(samples, labels):
    """(simplified silhouette, Calinski-Harabasz, Davies-Bouldin)."""
    clusters = sorted(set(labels))
    members = {c: [x for x, label in zip(samples, labels) if label == c] for c in clusters}
    means = {c: [sum(column) / len(rows) for column in zip(*rows)] for c, rows in members.items()}
    overall = [sum(column) / len(samples) for column in zip(*samples)]
    silhouettes = []
    for x, label in zip(samples, labels):
        a = math.dist(x, means[label])
        b = min(math.dist(x, means[c]) for c in clusters if c != label)
        silhouettes.append(0 if len(members[label]) == 1 else (b - a) / max(a, b))
    between = sum(len(rows) * math.dist(means[c], overall) ** 2 for c, rows in members.items())
    within = sum(math.dist(x, means[c]) ** 2 for c, rows in members.items() for x in rows)
    spread = {c: sum(math.dist(x, means[c]) for x in rows) / len(rows) for c, rows in members.items()}
    worst = [max((spread[c] + spread[e]) / math.dist(means[c], means[e]) for e in clusters if e != c) for c in clusters]
    n, k = len(samples), len(clusters)
    return sum(silhouettes) / n, between / (k - 1) / (within / (n - k)), sum(worst) / k


class ChooseK(TestCase):
    def test_criteria_of_iris_are_those_of_scikit_learn(self):
        for backend in ("sequential", "openmp"):
            choice = run_json(*FIT_IRIS, "--backend", backend)
            self.assertEqual([one["clusters"] for one in choice["tried"]], [2, 3, 4, 5])
            for one in choice["tried"]:
                found = (one["inertia"], one["simplified_silhouette"], one["calinski_harabasz"], one["davies_bouldin"])
                for value, expected in zip(found, IRIS_CRITERIA[one["clusters"]]):
                    self.assertAlmostEqual(value / expected, 1, delta=1e-9, msg=one)
            self.assertEqual(choice["suggested_clusters"], 2)
            self.assertIn("Calinski-Harabasz is best at 3", choice["reason"])

    def test_the_files_are_of_the_suggested_k(self):
        data = self.folder / "blobs.csv"
        run("data", "blobs", data, "--samples", "400", "--features", "3", "--centers", "6", "--std", "0.2", "--seed",
            "3")
        out = self.folder / "out"
        choice = run_json("fit", data, "-k", "2..9", "--restarts", "10", "--dtype", "float64", "-o", out)
        self.assertEqual(choice["suggested_clusters"], 6)
        self.assertEqual(sorted(path.name for path in out.iterdir()),
                         ["centroids.csv", "criteria.svg", "labels.csv", "model.json"])
        labels = [int(row) for row in (out / "labels.csv").read_text().split() if row.isdigit()]
        with open(data, newline="") as file:
            samples = [[float(value) for value in row[:3]] for row in csv.reader(file) if row[0][-1].isdigit()
                       and not row[0].startswith("x")]
        self.assertEqual(len(labels), 400)
        self.assertEqual(len(samples), 400)
        one = choice["tried"][4]
        found = (one["simplified_silhouette"], one["calinski_harabasz"], one["davies_bouldin"])
        for value, expected in zip(found, criteria_by_definition(samples, labels)):
            self.assertAlmostEqual(value / expected, 1, delta=1e-9)
        single = run_json("fit", data, "-k", "6", "--restarts", "10", "--dtype", "float64")
        self.assertEqual(one["inertia"], single["inertia"])

    def test_text_names_the_suggestion_and_its_reason(self):
        said = run(*FIT_IRIS).stdout
        self.assertIn("suggested k 2: best by the simplified silhouette and Davies-Bouldin; Calinski-Harabasz is "
                      "best at 3", " ".join(said.split()))
        rows = [line.split() for line in said.splitlines() if line.split()[:1] == ["2"]]
        self.assertEqual([row[-1] for row in rows], ["suggested"])
        self.assertLessEqual(max(map(len, said.splitlines())), 100)

    def test_a_step_and_tables_of_criteria(self):
        table = self.folder / "criteria.Csv"  # extensions count in any case
        chart = self.folder / "criteria.svg"
        for file in (table, chart):
            run("fit", IRIS, "-k", "2..9..3", "--criteria", file)
        with open(table, newline="") as file:
            self.assertEqual([row["clusters"] for row in csv.DictReader(file)], ["2", "5", "8"])
        circles = xml.etree.ElementTree.parse(chart).getroot().iter("{http://www.w3.org/2000/svg}circle")
        self.assertEqual(len(list(circles)), 4 * 3)

    def test_data_beyond_the_memory_limit(self):
        data = self.folder / "blobs.npy"
        run("data", "blobs", data, "--samples", "400000", "--features", "16", "--centers", "3", "--seed", "1")
        choose = ["fit", data, "-k", "2..4", "--iterations", "1", "--backend", "sequential"]
        whole = run_json(*choose)
        said = run(*choose, "--json", "--memory-limit", "44MiB")
        self.assertIn("is read in blocks", said.stderr)
        limited = json.loads(said.stdout)
        for one, other in zip(whole["tried"], limited["tried"]):
            for key in ("inertia", "simplified_silhouette", "calinski_harabasz", "davies_bouldin"):
                self.assertEqual(one[key], other[key])

    def test_refuses_what_makes_no_sense(self):
        for options, sentence in (
                (["-k", "5..2"], "'5..2' is not an ascending range of whole numbers from 1 to 2147483647, such as 2..20"),
                (["-k", "2..151"], "it must be 1 to 150"),
                (["-k", "2..3", "--seeding", "start.csv"], "a range needs a method, such as k-means++"),
                (["-k", "2", "--criteria", "c.svg"], "--criteria is for a range of k, such as -k 2..20, but -k is 2"),
                (["-k", "2..3", "--criteria", "c.png"], "c.png")):
            said = run("fit", IRIS, *options, status=2).stderr
            self.assertIn(sentence, said)


if __name__ == "__main__":
    unittest.main()
