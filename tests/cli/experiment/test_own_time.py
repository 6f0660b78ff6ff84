"""The parts of `lloyd run` other than fits: seeding with a backend's kernels, checks, and their times."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ROOT
from worker_case import WorkerCase

# Its seeding is large enough for the kernels of a backend.
CONFIG = """
experiment: seeding
dataset: {blobs: {samples: 4000, features: 64, centers: 9}}
clusters: 100
seeding: {method: METHOD, oversampling: 2}
restarts: 2
stop: {iterations: 1}
backends: [sequential, openmp]
repeats: 1
"""

class OwnTime(WorkerCase):
    def finish(self, config, keys="", arguments=()):
        if (self.output / "records.jsonl").exists():
            (self.output / "records.jsonl").unlink()
        process = self.start(config=config, keys=keys, arguments=arguments)
        out, err = self.run_to_end(process)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(len(self.records()), 2 if "openmp" in config else 1)
        return out, err

    def test_seeding_uses_the_kernels_of_a_backend(self):
        for method in ["k-means++", "k-means||"]:
            config = CONFIG.replace("METHOD", method)
            if method == "k-means++":
                config = config.replace(", oversampling: 2", "")
            for isolate in ["worker", "trial", "none"]:
                with self.subTest(method=method, isolate=isolate):
                    self.finish(config, f"isolate: {isolate}")
                    records = self.records()
                    self.assertEqual([record["seeding"]["backend"] for record in records], ["openmp"] * 2)
            inertia = records[0]["inertia_after_one"]
            # Without openmp in the experiment, its kernels are used where trials have processes of their own.
            for isolate, backend in [("worker", "openmp"), ("none", None)]:
                self.finish(config.replace(", openmp", ""), f"isolate: {isolate}")
                record = self.records()[0]
                self.assertEqual(record["seeding"]["backend"], backend)
                self.assertEqual(record["inertia_after_one"], inertia, "the samples must be the same")

    def test_times_of_the_run_are_printed(self):
        for arguments in [[], ["--json"]]:
            out, err = self.finish(CONFIG.replace("METHOD, oversampling: 2", "random"), arguments=arguments)
            self.assertNotIn("time: ", out)
            found = re.fullmatch(
                r"time: (\d+\.\d) s: timed fits (\d+\.\d) s, data (\d+\.\d) s, seeding (\d+\.\d) s, "
                r"checks (\d+\.\d) s, other (\d+\.\d) s; (\d+) % are neither fits nor data", err.splitlines()[-1])
            self.assertTrue(found, err)
            total, fits, *parts, percent = map(float, found.groups())
            self.assertAlmostEqual(total, fits + sum(parts), delta=0.31)  # each is rounded to 0.1 s
            self.assertAlmostEqual(fits, sum(record["fit_ms"] for record in self.records()) / 1000, delta=0.051)
            self.assertLessEqual(percent, 100)

    def test_sampled_checks_are_named(self):
        config = CONFIG.replace("METHOD, oversampling: 2", "random")
        out, _ = self.finish(config, "checks: {samples: 1500}")
        self.assertIn("\nchecks: sequential: 0 of 1 500 sampled labels wrong; openmp: 0 of 1 500 sampled labels wrong\n",
                      out)
        self.assertEqual({record["checked_labels"] for record in self.records()}, {1500})
        out, _ = self.finish(config)
        self.assertNotIn("sampled", out)
        self.assertEqual({record["checked_labels"] for record in self.records()}, {4000})

    def test_scikit_learn_is_described_without_importing_it(self):
        packages = self.folder / "packages"
        for package, module in [("numpy", "numpy"), ("scikit-learn", "sklearn"), ("threadpoolctl", "threadpoolctl")]:
            (packages / module).mkdir(parents=True)
            (packages / module / "__init__.py").write_text("raise RuntimeError('this was imported')\n")
            info = packages / f"{package.replace('-', '_')}-7.8.9.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 7.8.9\n")
        described = subprocess.run(
            [sys.executable, "-B", ROOT / "bench" / "peers" / "scikit-learn.py", "describe"],
            env={**os.environ, "PYTHONPATH": str(packages)}, capture_output=True, text=True)
        self.assertEqual(described.returncode, 0, described.stderr)
        description = json.loads(described.stdout)
        self.assertEqual(description["version"], "7.8.9")
        self.assertNotIn("unavailable", description)
        self.assertIs(description["prepare"], True)

    def test_scikit_learn_is_imported_to_prepare(self):
        packages = self.folder / "packages"
        for module in ["numpy", "sklearn", "sklearn/cluster", "threadpoolctl"]:
            (packages / module).mkdir(parents=True)
            (packages / module / "__init__.py").write_text(f"import sys\nprint('{module}', file=sys.stderr)\n")
        served = subprocess.run(
            [sys.executable, "-B", ROOT / "bench" / "peers" / "scikit-learn.py", "serve"],
            input='{"request": "prepare"}\n', env={**os.environ, "PYTHONPATH": str(packages)},
            capture_output=True, text=True)
        self.assertEqual((served.returncode, served.stdout), (0, "{}\n"), served.stderr)
        self.assertEqual(served.stderr.split(), ["numpy", "sklearn", "sklearn/cluster", "threadpoolctl"])

if __name__ == "__main__":
    unittest.main()
