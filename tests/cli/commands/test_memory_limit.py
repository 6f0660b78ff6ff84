"""Fits and predictions within a memory limit: reading blocks of rows gives the same results."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import BAD_PLUGINS, IRIS, LLOYD, SANITIZED, TestCase, run, run_json

MIB = 1 << 20


class MemoryLimit(TestCase):
    SPACE = 600_000_000

    def blobs(self, samples, name="blobs.npy"):
        file = self.folder / name
        run("data", "blobs", file, "--samples", samples, "--features", 16, "--centers", 8,
            "--seed", 5)
        return file

    def memory_of(self, *arguments):
        """Peak resident memory of one run of lloyd, in bytes."""
        program = ("import resource, subprocess, sys; "
                   "subprocess.run(sys.argv[1:], check=True, capture_output=True); "
                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        done = subprocess.run([sys.executable, "-c", program, LLOYD, *map(str, arguments)],
                              check=True, capture_output=True, text=True)
        return int(done.stdout) * 1024

    def test_blocks_give_the_result_of_the_whole(self):
        file = self.blobs(1_000_000)  # 61 MiB
        common = ["fit", file, "-k", 8, "--max-iterations", 4]
        for seeding in ("k-means++", "k-means||", "random"):
            whole = run_json(*common, "--seeding", seeding)
            limited = run("fit", file, "-k", 8, "--max-iterations", 4, "--seeding", seeding,
                          "--memory-limit", "80MiB", "--labels", self.folder / "labels.npy")
            self.assertIn("is read in blocks of", limited.stderr)
            blocks = run_json(*common, "--seeding", seeding, "--memory-limit", "80MiB")
            for key in ("inertia", "counts", "iterations", "stop_reason", "dataset"):
                self.assertEqual(blocks[key], whole[key], key)

    def test_names_the_windows_of_a_fit(self):
        # The size of windows depends on the number of processors.
        processor = str(min(os.sched_getaffinity(0)))
        done = subprocess.run(["taskset", "-c", processor, LLOYD, "fit", self.blobs(1_000_000), "-k",
                               "8", "-b", "openmp", "--max-iterations", "1", "--memory-limit",
                               "145MiB"], check=True, capture_output=True, text=True)
        self.assertRegex(done.stderr, r"is read in blocks of \d+ samples \(by the fit, in windows of "
                                      r"32768\), to stay within 145.0 MiB of memory")

    def test_labels_of_blocks_are_those_of_the_whole(self):
        file = self.blobs(1_000_000)
        model = self.folder / "model.json"
        run("fit", file, "-k", 8, "--max-iterations", 2, "--model", model)
        for limit, name in (("8GiB", "whole.npy"), ("80MiB", "blocks.npy")):
            run("predict", model, file, "--labels", self.folder / name, "--memory-limit", limit)
        self.assertEqual((self.folder / "whole.npy").read_bytes(),
                         (self.folder / "blocks.npy").read_bytes())

    @unittest.skipIf(SANITIZED, "a sanitizer holds memory of its own")
    def test_memory_stays_within_the_limit(self):
        file = self.blobs(8_000_000)  # 488 MiB
        self.assertLess(self.memory_of("fit", file, "-k", "8", "--max-iterations", "2", "--seeding",
                                       "k-means||", "--memory-limit", "400MiB"), 400 * MIB)

    @unittest.skipIf(SANITIZED, "a sanitizer holds memory of its own")
    def test_long_rows_stay_within_the_limit(self):
        file = self.folder / "wide.npy"
        run("data", "blobs", file, "--samples", 300, "--features", 40000, "--dtype", "float64")
        self.assertLess(self.memory_of("fit", file, "-k", "2", "--iterations", "1", "--backend",
                                       "openmp", "--param", "threads=1", "--memory-limit",
                                       "120MiB"), 120 * MIB)

    @unittest.skipIf(SANITIZED, "a sanitizer holds memory of its own")
    def test_a_backend_that_takes_more_than_it_estimates_is_reported(self):
        model = self.folder / "model.json"
        plugins = ["--plugin-dir", BAD_PLUGINS / "hostile"]
        fit = [*plugins, "fit", IRIS, "-k", 3, "-b", "hostile", "--model", model]
        predict = [*plugins, "predict", model, IRIS, "-b", "hostile"]
        told = (r"lloyd: peak memory was [34]\d\d\.\d MiB, above --memory-limit 60\.0 MiB: the backend 'hostile' "
                r"seems to use more than it estimates\n$")
        for call, arguments in (("fit", fit), ("label", predict)):
            with self.subTest(call):
                hostile = {**os.environ, "LLOYD_HOSTILE": f"{call} take-memory"}
                self.assertRegex(run(*arguments, "--memory-limit", "60MiB", env=hostile).stderr, told)
                for more, environment in (([], hostile), (["--memory-limit", "60MiB"], None),
                                          (["--memory-limit", "1GiB"], hostile)):
                    self.assertNotIn("at the peak", run(*arguments, *more, env=environment).stderr)

    def test_distances_count_into_the_limit(self):
        file = self.blobs(1_000_000)
        model = self.folder / "model.json"
        run("fit", file, "-k", 8, "--iterations", 1, "--seeding", "random", "--model", model)
        predict = ["predict", model, file, "--labels", self.folder / "labels.npy", "--backend", "sequential",
                   "--memory-limit", "50MiB"]
        run(*predict)
        # 8 MB of distances and a block of 8 MiB.
        refused = run(*predict, "--distances", self.folder / "distances.npy", status=2).stderr
        self.assertIn("and 15.6 MiB those of the requested outputs", refused)

    def test_what_does_not_fit_is_refused(self):
        file = self.blobs(1_000_000)
        refusal = run("fit", file, "-k", 8, "--memory-limit", "40MiB", status=2).stderr
        self.assertRegex(refusal, r"take [\d.]+ MiB of memory even when they are read in blocks, .*; "
                                  r"the limit is 40.0 MiB")
        text = self.write("points.csv", "1,2\n3,4\n5,6\n")
        refusal = run("fit", text, "-k", 2, "--memory-limit", "1MiB", status=2).stderr
        self.assertRegex(refusal, r"take [\d.]+ MiB of memory as a whole, which is how text is held")
        text = self.write("many.csv", "1,2\n" * 4_000_000)
        refusal = run("fit", text, "-k", 2, "--memory-limit", "16MiB", status=2).stderr
        self.assertRegex(refusal, r"the table up to here takes .*; 'lloyd data convert' makes an \.npy file of it")
        refusal = run("fit", text, "-k", 2, "--memory-limit", "lots", status=2).stderr
        self.assertIn("--memory-limit", refusal)


if __name__ == "__main__":
    unittest.main()
