"""lloyd fit and predict on a real file."""

import json
import pathlib
import re
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import IRIS, SANITIZED, TestCase, run, run_json

# Fisher's iris data, three clusters: the optimum, which scikit-learn finds as well.
INERTIA = 78.851
ADJUSTED_RAND_INDEX = 0.730

VARIANTS = [
    ["--backend", "sequential", "--param", "layout=aos"],
    ["--backend", "sequential", "--param", "layout=soa"],
    ["--backend", "openmp", "--param", "threads=1"],
    ["--backend", "openmp", "--param", "threads=2"],
]


class Iris(TestCase):
    def test_optimum_with_each_backend_and_layout(self):
        for variant in VARIANTS:
            for dtype in ("float32", "float64"):
                with self.subTest(variant=variant, dtype=dtype):
                    fit = run_json("fit", IRIS, "-k", "3", "--restarts", "10", "--dtype", dtype, *variant)
                    self.assertAlmostEqual(fit["inertia"], INERTIA, delta=0.001)
                    self.assertAlmostEqual(fit["adjusted_rand_index"], ADJUSTED_RAND_INDEX, delta=0.001)
                    self.assertEqual(sorted(fit["counts"]), [38, 50, 62])

    def test_every_backend_starts_alike(self):
        for seeding in (["k-means++"], ["k-means||"], ["k-means||", "--oversampling", "2.5", "--rounds", "2"]):
            starts = []
            for variant in VARIANTS:
                fit = run_json("fit", IRIS, "-k", "7", "--seed", "4", "--iterations", "1", "--dtype", "float64",
                               "--seeding", *seeding, *variant)
                starts.append(fit["inertia"])
                self.assertEqual(fit["seeding"]["method"], seeding[0])
                if len(seeding) > 1:
                    self.assertEqual(fit["seeding"]["oversampling"], 2.5)
                    self.assertEqual(fit["seeding"]["rounds"], 2)
            self.assertEqual(len(set(starts)), 1, f"{seeding}: {starts}")

    def test_text_says_what_json_says(self):
        text = run("fit", IRIS, "-k", "3", "--restarts", "10").stdout
        self.assertIn("78.851", text)
        self.assertIn("0.730", text)

    def test_json_has_centroids_and_warnings(self):
        centroids = self.folder / "c.csv"
        for clusters, more in (("3", ["--standardize"]), ("2..4", [])):
            fit = run_json("fit", IRIS, "-k", clusters, *more, "--centroids", centroids)
            rows = [[float(cell) for cell in line.split(",")] for line in centroids.read_text().splitlines()[1:]]
            self.assertEqual(fit["centroids"], rows)
            self.assertEqual(fit["warnings"], [])
        table = self.write("n.csv", "".join(f"{i},{i * i % 7 / 2},x{i}\n" for i in range(20)))
        for clusters in ("2", "2..3"):
            fit = run_json("fit", table, "-k", clusters)
            self.assertIn("the first column counts the rows: 0, 1, 2, ...", fit["warnings"][0])
        self.assertIn("the last column is text and is taken as classes", run_json("fit", table, "-k", "2")["warnings"][1])
        wide = self.write("w.csv", "".join(",".join([str(i)] * 50001) + "\n" for i in range(2)))
        self.assertIsNone(run_json("fit", wide, "-k", "2")["centroids"])
        self.assertEqual(len(run_json("fit", wide, "-k", "1")["centroids"]), 1)

    def test_json_has_names_and_the_rows_left_out(self):
        table = self.write("n.csv", "x,y\n1,2\n,3\n4,NA\n5,6\n8,9\n")
        for clusters in ("2", "2..3"):
            data = run_json("fit", table, "-k", clusters, "--drop-missing")["dataset"]
            self.assertEqual((data["samples"], data["feature_names"], data["dropped_rows"]), (3, ["x", "y"], 2))
        data = run_json("fit", self.write("m.csv", "1,2\n3,4\n"), "-k", "2")["dataset"]
        self.assertEqual((data["feature_names"], data["dropped_rows"]), ([], 0))

    def test_labels_that_a_screening_left_open_are_counted(self):
        grid = self.write("grid.csv", "".join(f"{x},{y}\n" for x in range(-9, 10) for y in range(9)))
        start = self.write("start.csv", "-1,4\n1,4\n")  # x = 0 is equidistant
        fit = run_json("fit", grid, "-k", "2", "--init", start, "--iterations", "1", "--backend",
                       "openmp")
        self.assertEqual(fit["exact_fallbacks"], 9)
        fit = run_json("fit", grid, "-k", "2", "--init", start, "--iterations", "1", "--backend",
                       "sequential")
        self.assertIsNone(fit["exact_fallbacks"])

    def test_columns_can_be_chosen(self):
        fit = run_json("fit", IRIS, "-k", "3", "--columns", "petal_length,petal_width")
        self.assertEqual(fit["dataset"]["features"], 2)

    def test_columns_are_taken_literally_and_one_list_at_a_time(self):
        table = self.write("n.csv", "x,[x]\n1,2\n3,4\n")
        info = run_json("data", "info", table, "--columns", "[x]")
        self.assertEqual([one["feature"] for one in info["statistics"]], ["[x]"])
        info = run_json("data", "info", "--columns", "[x],x", table)
        self.assertEqual([one["feature"] for one in info["statistics"]], ["[x]", "x"])
        for columns in ("x,,[x]", ",x", "x,", ","):
            said = run("data", "info", table, "--columns", columns, status=2).stderr
            self.assertIn(f"--columns is '{columns}', with an empty element", said)


class Files(TestCase):
    def test_predict_gives_the_labels_of_the_fit_with_any_backend(self):
        model = self.folder / "model.json"
        labels = self.folder / "labels.csv"
        run("fit", IRIS, "-k", "3", "--model", model, "--labels", labels, "--centroids",
            self.folder / "centroids.csv")
        self.assertEqual(len((self.folder / "centroids.csv").read_text().splitlines()), 1 + 3)
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                predicted = self.folder / "predicted.csv"
                run("predict", model, IRIS, "--labels", predicted, *variant)
                self.assertEqual(predicted.read_text(), labels.read_text())

    def test_output_folder_holds_all_three(self):
        run("fit", IRIS, "-k", "3", "--output", self.folder / "out")
        names = sorted(path.name for path in (self.folder / "out").iterdir())
        self.assertEqual(names, ["centroids.csv", "labels.csv", "model.json"])

    def test_predict_prints_labels(self):
        model = self.folder / "model.json"
        run("fit", IRIS, "-k", "3", "--model", model)
        lines = run("predict", model, IRIS).stdout.split()
        self.assertEqual(len(lines), 150)
        self.assertLessEqual(set(lines), {"0", "1", "2"})

    def test_centroids_are_a_start(self):
        centroids = self.folder / "centroids.npy"
        first = run_json("fit", IRIS, "-k", "3", "--restarts", "10", "--centroids", centroids)
        again = run_json("fit", IRIS, "-k", "3", "--init", centroids)
        self.assertEqual(again["iterations"], 1)
        self.assertEqual(again["inertia"], first["inertia"])

    def test_a_model_is_a_start(self):
        model = self.folder / "m.json"
        first = run_json("fit", IRIS, "-k", "3", "--restarts", "10", "--model", model)
        again = run_json("fit", IRIS, "-k", "3", "--seeding", model)
        self.assertEqual((again["iterations"], again["inertia"]), (1, first["inertia"]))
        said = run("fit", IRIS, "-k", "4", "--seeding", model, status=2).stderr
        self.assertIn(f"{model} is a model of 3 clusters and 4 features, but 4 centroids are needed", said)
        said = run("fit", IRIS, "-k", "3", "--seeding", model, "--columns", "0,1", status=2).stderr
        self.assertEqual(said, f"lloyd: --seeding: {model} is a model of 3 clusters and 4 features, but iris.csv has 2 "
                               "features\n")
        other = self.write("other.json", "{}")
        said = run("fit", IRIS, "-k", "3", "--seeding", other, status=2).stderr
        self.assertRegex(said, f"^lloyd: {re.escape(str(other))}: is not a model file: ")
        # The start is in the units of the data, whether or not the model or the fit standardizes.
        start = self.folder / "c.csv"
        run("fit", IRIS, "-k", "3", "--standardize", "--model", model, "--centroids", start)
        for options in ([], ["--standardize"]):
            fits = [run_json("fit", IRIS, "-k", "3", "--seeding", file, *options) for file in (model, start)]
            self.assertEqual(fits[0]["counts"], fits[1]["counts"])

    def test_experiments_say_why_a_model_is_no_start(self):
        model = self.folder / "m.json"
        run("fit", IRIS, "-k", "3", "--model", model)
        self.write("other.json", "{}")
        for change, said in (
                ("seeding: m.json", "'m.json' is not a seeding method; a file of centroids or a model is given as "
                                    "'seeding: {file: m.json}'"),
                ("seeding: {file: other.json}", "other.json: is not a model file: "),
                ("clusters: 4, seeding: {file: m.json}",
                 "m.json is a model of 3 clusters and 4 features, but 4 centroids of 4 features are needed"),
                ("clusters: 3, seeding: {file: m.json}", None)):
            config = self.write("c.yaml", f"{{dataset: {{file: '{IRIS}'}}, backends: [sequential], {change}}}")
            with self.subTest(change):
                done = run("run", config, "--dry-run", status=0 if said is None else 2)
                if said is not None:
                    self.assertRegex(done.stderr, r"lloyd: [^\n]*c\.yaml:1:\d+: [^\n]*" + re.escape(said) + "[^\n]*\n$")

    def test_restarts_from_the_same_centroids_are_warned_of(self):
        start = self.write("c.csv", "1,2,3,4\n5,6,7,8\n")
        for seeding in (start, "first"):
            report = run_json("fit", IRIS, "-k", "2", "--seeding", seeding, "--restarts", "5")
            self.assertIn(f"--restarts is 5, but with --seeding {seeding} every restart begins with the same centroids, "
                          "so all fits are the same", report["warnings"])
            self.assertEqual(report["restarts"], 1)
        for options in (["--seeding", start], ["--restarts", "5"]):
            self.assertEqual(run_json("fit", IRIS, "-k", "2", *options)["warnings"], [])
        config = self.write("c.yaml", f"{{dataset: {{file: '{IRIS}'}}, backends: [sequential], clusters: 2, "
                                      "seeding: {file: c.csv}, sweep: {restarts: [1, 3], stop.iterations: [2, 3]}}")
        said = run("run", config, "--dry-run").stderr
        self.assertEqual(said.count(f"lloyd: warning: 'restarts' is 3, but with {start} every restart begins"), 1)

    def predict(self, names, data, *more, status=0):
        """Output of predict for data and a one-cluster model whose two features have these names."""
        self.write("m.json", json.dumps({"format": "lloyd-model", "version": 1, "clusters": 1,
                                         "features": 2, "centroids": [[1, 2]],
                                         "feature_names": names}))
        self.write("t.csv", data)
        done = run("predict", "m.json", "t.csv", *more, cwd=self.folder, status=status)
        return done.stdout if status == 0 else done.stderr

    def test_predict_refuses_features_of_other_names(self):
        order = "feature 0 of t.csv is 'y', but that of the model m.json is 'x'; --columns x,y gives"
        self.assertIn(order, self.predict(["x", "y"], "y,x\n1,2\n", status=2))
        self.assertIn("feature 1 of t.csv is 'z', but that of the model m.json is 'y'; no feature is called 'y', so "
                      "add the column, or correct its name",
                      self.predict(["x", "y"], "x,z\n1,2\n", status=2))
        self.assertIn("t.csv has 1 feature, but the model m.json has 2; no feature is called 'x', so add",
                      self.predict(["x", "y"], "y\n1\n", status=2))
        self.assertIn("t.csv has 3 features, but the model m.json has 2; no feature is called 'x' or 'y', so add",
                      self.predict(["x", "y"], "X,Y,z\n1,2,3\n", status=2))
        self.assertIn("t.csv has 3 features, but the model m.json has 2",
                      self.predict(["x", "y"], "1,2,3\n", status=2))
        for names, data, *more in ([[], "1,2\n"], [["x", "y"], "y,x\n1,2\n", "--columns", "x,y"],
                                   [["x", "y"], "x,y\n1,2\n"], [["x", "y"], "1,2\n"],
                                   [[], "y,x\n1,2\n"]):
            self.assertEqual(self.predict(names, data, *more), "0\n")

    def test_predict_names_the_columns_of_the_model_beside_text(self):
        data = self.write("x.csv", "x,y\n1,2\n3,4\n5,6\n")
        run("fit", data, "-k", "2", "-o", self.folder / "fit")
        more = self.write("more.csv", "id,y,since,x\ncust 0,2,2023-02-09,1\ncust 1,4,2023-02-10,3\n")
        model = self.folder / "fit" / "model.json"
        self.assertIn("'cust 0' is not a number; --columns x,y chooses the model's features\n",
                      run("predict", model, more, status=2).stderr)
        self.assertEqual(len(run("predict", model, more, "--columns", "x,y").stdout.split()), 2)

    def test_predict_with_model_and_data_exchanged(self):
        self.predict(["x", "y"], "x,y\n1,2\n")
        said = run("predict", "t.csv", "m.json", cwd=self.folder, status=2).stderr
        self.assertEqual(said, "lloyd: MODEL comes before DATA: 'lloyd predict m.json t.csv'\n")
        said = run("predict", "m.json", "m.json", cwd=self.folder, status=2).stderr
        self.assertIn("DATA is m.json, a .json file; the samples must be in a .csv", said)

    def test_advice_about_columns_can_be_followed(self):
        def said(names, columns):
            self.write("m.json", json.dumps({"format": "lloyd-model", "version": 1, "clusters": 1,
                                             "features": len(names), "centroids": [[1] * len(names)],
                                             "feature_names": names}))
            quoted = ",".join(f'"{name}"' for name in columns)
            self.write("t.csv", quoted + "\n" + ",".join("1" * len(names)) + "\n")
            return run("predict", "m.json", "t.csv", cwd=self.folder, status=2).stderr

        in_another_order = "; the features are those of the model m.json in another order\n"
        many = [f"column{i}" for i in range(2000)]
        for names in (["a,1", "b"], ["-a", "b"], many, ["x" * 200000, "b"], ["y", "x", "x"]):
            with self.subTest(names[0][:10]):
                text = said(names, names[::-1])
                self.assertNotIn("--columns", text)
                self.assertTrue(text.endswith(in_another_order), text[-200:])
                self.assertLess(len(text), 500)
        self.assertIn("; --columns 'a 1,$b' gives the features the order", said(["a 1", "$b"], ["$b", "a 1"]))
        run("predict", "m.json", "t.csv", "--columns", "a 1,$b", cwd=self.folder)
        self.assertIn('; --columns "it\'s,b" gives the features the order', said(["it's", "b"], ["b", "it's"]))
        run("predict", "m.json", "t.csv", "--columns", "it's,b", cwd=self.folder)

    def test_centroids_of_a_start_have_the_names_of_the_data(self):
        self.write("s.csv", "a,b\n0,0\n1,0\n10,0\n")
        self.write("c.csv", "b,a\n0,10\n5,0\n")
        said = run("fit", "s.csv", "-k", "2", "--seeding", "c.csv", cwd=self.folder, status=2).stderr
        self.assertIn("feature 0 of s.csv is 'a', but that of c.csv is 'b'; --columns b,a gives", said)
        run("fit", "s.csv", "-k", "2", "--seeding", "c.csv", "--columns", "b,a", cwd=self.folder)

    def test_model_reads_back_to_the_same_bits(self):
        model = self.folder / "model.json"
        first = run_json("fit", IRIS, "-k", "3", "--model", model)
        document = json.loads(model.read_text())
        self.assertEqual(document["format"], "lloyd-model")
        self.assertEqual(document["inertia"], first["inertia"])
        self.assertEqual(document["feature_names"],
                         ["sepal_length", "sepal_width", "petal_length", "petal_width"])


class Large(TestCase):
    SPACE = 300_000_000

    @unittest.skipIf(SANITIZED, "takes half a gigabyte and a minute there")
    def test_float32_sums_do_not_saturate(self):
        """3e7 samples of 1 and 3e7 of 3: running float32 sums stall at 2^24."""
        samples = 60_000_000
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({samples}, 1), }}".ljust(117) + "\n"
        data = self.folder / "ones_and_threes.npy"
        with open(data, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
            for _ in range(samples // 2_000_000):
                file.write(struct.pack("<2f", 1, 3) * 1_000_000)
        start = self.write("start.csv", "0.5\n2.75\n")
        centroids = self.folder / "centroids.csv"
        for backend in ("sequential", "openmp"):
            with self.subTest(backend=backend):
                fit = run_json("fit", data, "-k", "2", "--init", start, "--backend", backend,
                               "--centroids", centroids)
                self.assertEqual(fit["counts"], [samples // 2, samples // 2])
                self.assertEqual([float(text) for text in centroids.read_text().split()], [1, 3])
                self.assertEqual(fit["inertia"], 0)

    def test_spatially_sorted_samples_are_clustered_in_the_given_order(self):
        data, exact, labels, centroids = (self.folder / name for name in
                                          ("blobs.npy", "exact.npy", "labels.npy", "centroids.npy"))
        run("data", "blobs", data, "--samples", "70001", "--features", "2", "--centers", "30", "--seed", "5")
        run("data", "convert", data, exact, "--dtype", "float64")
        # The clusters of the last two centroids start empty, so samples are relocated to them.
        start = self.write("start.csv", "".join(f"{x},{y}\n" for x in range(-9, 9, 4) for y in range(-9, 9, 4)) +
                           "1000,1000\n1001,1000\n")
        found = {}
        for variant in ([exact, "--backend", "sequential"], *([data, *variant] for variant in VARIANTS[2:])):
            fit = run_json("fit", "-k", "27", "--init", start, "--iterations", "7", "--labels", labels,
                           "--centroids", centroids, *variant)
            self.assertGreater(fit["relocations"], 0)
            found[" ".join(map(str, variant))] = labels.read_bytes() + centroids.read_bytes()
        self.assertEqual(len(set(found.values())), 1)


class Outputs(TestCase):
    def test_what_cannot_be_written_is_refused_before_the_work(self):
        data = self.write("points.csv", "1,2\n3,4\n5,6\n")
        folder = self.folder / "folder.npy"
        folder.mkdir()
        same = self.folder / "same.npy"
        for options, message in {
                ("--labels", folder): "it exists and is not a regular file",
                ("--labels", same, "--centroids", f"{self.folder}/./same.npy"): "as two outputs",
                ("--labels", data): "points.csv is read, so it cannot be written too",
        }.items():
            with self.subTest(options):
                self.assertIn(message, run("fit", data, "-k", "2", *options, status=2).stderr)
        self.assertEqual(data.read_text(), "1,2\n3,4\n5,6\n")


class Data(TestCase):
    def test_blobs_convert_and_info(self):
        npy, csv, back = (self.folder / name for name in ("blobs.npy", "blobs.csv", "back.npy"))
        run("data", "blobs", npy, "--samples", "1000", "--features", "3", "--seed", "5")
        run("data", "convert", npy, csv)
        run("data", "convert", csv, back)
        self.assertEqual(npy.read_bytes(), back.read_bytes())
        info = run_json("data", "info", npy)
        self.assertEqual((info["samples"], info["features"], info["dtype"]), (1000, 3, "float32"))
        self.assertEqual(info["fingerprint"], run_json("data", "info", back)["fingerprint"])

    def test_same_seed_same_blobs(self):
        for name in ("a.npy", "b.npy"):
            run("data", "blobs", self.folder / name, "--samples", "500", "--seed", "3")
        self.assertEqual((self.folder / "a.npy").read_bytes(), (self.folder / "b.npy").read_bytes())


class Backends(TestCase):
    def test_list_and_description(self):
        listing = run_json("backends")
        names = [backend["name"] for backend in listing["backends"]]
        self.assertIn("sequential", names)
        self.assertIn("openmp", names)
        self.assertEqual(listing["refused"], [])
        self.assertIn("threads", run("backends", "openmp").stdout)


if __name__ == "__main__":
    unittest.main()
