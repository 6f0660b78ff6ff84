"""How many instructions an iteration of openmp takes, so that a slowdown shows without a clock.

The counts, by compiler, are in instruction_counts.json, those of AVX2, which valgrind knows. After a
change that is meant: LLOYD=build/release/bin/lloyd CXX=c++ python3 tests/cli/test_instruction_counts.py
--update
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from program import LLOYD, SANITIZED, TestCase, run

TABLE = pathlib.Path(__file__).with_name("instruction_counts.json")
TOLERANCE = 0.02
# Samples, features, clusters: few features, tiles, integers, and bounds.
SHAPES = {"100000, 2, 32": [], "8000, 24, 7": [], "8000, 16, 64": [],
          "8000, 16, 64 with bounds": ["--param", "algorithm=hamerly"]}


def compiler():
    """As in "GCC 12.2.0": what counts depend on, beside the sources."""
    lines = subprocess.run([os.environ.get("CXX", "c++"), "--version"], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    name = "clang" if "clang" in lines[0] else "GCC"
    return f"{name} {re.search(r'[0-9]+[.][0-9]+[.][0-9]+', lines[0])[0]}"


def instructions(file, clusters, options, iterations):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", LLOYD, "fit", file,
               "--backend", "openmp", "--param", "threads=1", "--param", "isa=avx2", *options,
               "--clusters", clusters, "--seeding", "random", "--seed", "1", "--iterations",
               str(iterations), "--json"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    if done.returncode != 0 and "this machine has no avx2" in done.stderr:
        raise unittest.SkipTest("this machine has no AVX2")
    assert done.returncode == 0, done.stderr
    return int(re.search(r"Collected : ([0-9]+)", done.stderr)[1])


def counts(folder):
    """Instructions of an iteration, by shape."""
    found = {}
    for shape, options in SHAPES.items():
        samples, features, clusters = re.findall(r"[0-9]+", shape)
        file = folder / "samples.npy"
        run("data", "blobs", file, "--samples", samples, "--features", features, "--centers", clusters,
            "--std", "4", "--seed", "1")
        # What comes before and after the iterations is in both; but as it starts, Highway measures the
        # resolution of the clock, in up to 100000 instructions more or less.
        first, last = 3, 43
        found[shape] = (instructions(file, clusters, options, last) -
                        instructions(file, clusters, options, first)) // (last - first)
    return found


class InstructionCounts(TestCase):
    @unittest.skipIf(SANITIZED, "a sanitizer's build has others")
    def test_an_iteration_takes_as_many_as_the_table_says(self):
        if not shutil.which("valgrind"):
            self.skipTest("valgrind is not installed")
        table = json.loads(TABLE.read_text())
        if compiler() not in table:
            self.skipTest(f"{TABLE.name} has no counts of {compiler()}: --update adds them")
        expected = table[compiler()]
        found = counts(self.folder)
        self.assertEqual(list(found), list(expected))
        for shape, count in found.items():
            with self.subTest(shape):
                self.assertLessEqual(
                    abs(count / expected[shape] - 1), TOLERANCE,
                    f"{count} instructions, {expected[shape]} in {TABLE.name} of {compiler()}; "
                    "--update where that is meant")


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        known = json.loads(TABLE.read_text()) if TABLE.exists() else {}
        with tempfile.TemporaryDirectory() as name:
            known[compiler()] = counts(pathlib.Path(name))
        TABLE.write_text(json.dumps(known, indent=2) + "\n")
    else:
        unittest.main()
