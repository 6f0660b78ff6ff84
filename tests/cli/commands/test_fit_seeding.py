"""lloyd fit seeds large data with the kernels of another backend if its own offers none."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import TestCase, run, run_json


class FitSeeding(TestCase):
    def setUp(self):
        super().setUp()
        # 2^20 values. The seeding of 180 clusters takes 1.4 x 2^30 multiplications; from 2^30 on, kernels are borrowed.
        self.data = self.folder / "blobs.npy"
        run("data", "blobs", self.data, "--samples", "16384", "--features", "64", "--centers", "9", "--seed", "1")
        self.fit = ["fit", self.data, "-k", "180", "--iterations", "1", "--backend", "sequential"]

    def test_large_seedings_use_the_kernels_of_another_backend(self):
        borrowed = run_json(*self.fit)
        self.assertEqual(borrowed["seeding"]["backend"], "openmp")
        own = run_json("fit", self.data, "-k", "180", "--iterations", "1", "--backend", "openmp")
        self.assertEqual(own["seeding"]["backend"], "openmp")
        self.assertEqual(borrowed["counts"], own["counts"])
        self.assertEqual(borrowed["inertia"], own["inertia"])
        self.assertIn("seed 0, with the kernels of openmp\n", run(*self.fit).stdout)

    def test_small_seedings_and_other_methods_do_not(self):
        for options in (["-k", "20"], ["-k", "180", "--seeding", "random"], ["-k", "180", "--seeding", "first"]):
            fit = run_json("fit", self.data, *options, "--iterations", "1", "--backend", "sequential")
            self.assertIsNone(fit["seeding"]["backend"])

    def test_a_copy_of_the_data_must_fit_into_the_limit(self):
        text = self.folder / "blobs.csv"
        run("data", "convert", self.data, text)
        fit = ["fit", text, *self.fit[2:]]
        free = run_json(*fit)
        self.assertEqual(free["seeding"]["backend"], "openmp")
        limited = run_json(*fit, "--memory-limit", "60MiB")
        self.assertIsNone(limited["seeding"]["backend"])
        self.assertEqual(limited["counts"], free["counts"])
        self.assertEqual(limited["inertia"], free["inertia"])

    def test_each_restart_has_samples_of_its_own(self):
        borrowed = run_json(*self.fit, "--restarts", "3")
        self.assertEqual(borrowed["seeding"]["backend"], "openmp")
        self.assertGreater(borrowed["restart"], 0)
        own = run_json(*self.fit[:-1], "openmp", "--restarts", "3")
        for key in ("restart", "counts", "inertia"):
            self.assertEqual(borrowed[key], own[key])

    def test_without_other_backends_the_core_seeds(self):
        # A refused file hides the plugin of its name.
        plugins = self.folder / "plugins"
        plugins.mkdir()
        (plugins / "lloyd_openmp.so").write_text("no library")
        fit = run_json("--plugin-dir", plugins, *self.fit)
        self.assertIsNone(fit["seeding"]["backend"])
        self.assertEqual(fit["inertia"], run_json(*self.fit)["inertia"])

    def test_a_range_of_k(self):
        tried = run_json("fit", self.data, "-k", "170..180..10", "--iterations", "1", "--backend", "sequential")
        self.assertEqual(tried["tried"][1]["inertia"], run_json(*self.fit)["inertia"])


if __name__ == "__main__":
    unittest.main()
