#!/usr/bin/env python3
"""Compares fits on different numbers of ranks of this machine: time per iteration, and whether the bits agree.

Usage: rank_speedup.py SETTING SETTING... [--build BUILD] [--backend NAME] [--shape NxDxK]... [--rounds N]

A setting is RANKS or RANKSxTHREADS, such as 2 or 2x8; THREADS is the backend's parameter `threads`, and each rank is
then bound to as many cores of its own. For every shape, each round fits the same file once per setting, in alternating
order, from random initial centroids. One rank runs without mpirun. Prints medians, and the speedup over the first
setting as a ratio of medians. Status 1 if a fit fails or its centroids or inertia differ from those of the first setting.
"""

import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile


class Setting:
    def __init__(self, text):
        self.text = text
        numbers = text.split("x")
        try:
            self.ranks, self.threads = int(numbers[0]), int(numbers[1]) if len(numbers) == 2 else None
        except ValueError:
            numbers = []
        if len(numbers) not in (1, 2) or min(self.ranks, self.threads or 1) < 1:
            raise argparse.ArgumentTypeError(f"the setting '{text}' is not RANKS or RANKSxTHREADS")

    def launcher(self, mpirun):
        if self.ranks == 1:
            return []
        binding = f"--map-by slot:PE={self.threads} --bind-to core" if self.threads else "--bind-to none"
        return shlex.split(f"{mpirun} -n {self.ranks} {binding}")

    def parameters(self):
        return ["-p", f"threads={self.threads}"] if self.threads else []


def parse_shape(text):
    try:
        shape = tuple(int(float(number)) for number in text.split("x"))
    except ValueError:
        shape = ()
    if len(shape) != 3 or min(shape) < 1:
        raise argparse.ArgumentTypeError(f"the shape '{text}' is not SAMPLESxFEATURESxCLUSTERS")
    return shape


def output_of(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(f"rank_speedup.py: {shlex.join(map(str, command))} failed: {done.stderr.strip()}")
    return done.stdout


def fit(options, setting, file, clusters):
    """The JSON of one fit."""
    return json.loads(output_of([
        *setting.launcher(options.mpirun), options.build / "bin/lloyd", "fit", file, "-k", clusters, "--json",
        "--backend", options.backend, "--seeding", "random", "--iterations", options.iterations, *setting.parameters()]))


def measure(options, shape, folder):
    """Prints a line for each setting. Returns whether all fits agree."""
    samples, features, clusters = shape
    file = folder / "points.npy"
    output_of([options.build / "bin/lloyd", "data", "blobs", file, "--samples", samples, "--features", features,
               "--centers", clusters])
    times = {setting: [] for setting in options.settings}
    results = {}
    for number in range(options.rounds + 1):
        for setting in options.settings[::-1] if number % 2 else options.settings:
            found = fit(options, setting, file, clusters)
            results[setting] = found["centroids"], found["inertia"]
            if number > 0:  # the first round warms the page cache
                times[setting].append(found["loop_ms"] / options.iterations)
    expected = results[options.settings[0]]
    first = statistics.median(times[options.settings[0]])
    for setting in options.settings:
        median = statistics.median(times[setting])
        bits = "same bits" if results[setting] == expected else "OTHER BITS"
        print(f"{samples}x{features}x{clusters}".ljust(20), f"{setting.text:>6}", f"{median:9.3f} ms an iteration",
              f"{first / median:6.2f} times as fast", f" {bits}", flush=True)
    return all(result == expected for result in results.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("settings", type=Setting, nargs="+", metavar="SETTING", help="RANKS or RANKSxTHREADS")
    parser.add_argument("--build", default="build/release", type=pathlib.Path, help="default: %(default)s")
    parser.add_argument("--backend", default="openmp", help="default: %(default)s")
    parser.add_argument("--shape", type=parse_shape, action="append", metavar="NxDxK", help="may be repeated")
    parser.add_argument("--rounds", type=int, default=5, help="measured fits per setting; default: %(default)s")
    parser.add_argument("--iterations", type=int, default=30, help="per fit; default: %(default)s")
    parser.add_argument("--mpirun", default="mpirun", help="the launcher and its options; default: %(default)s")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        agree = [measure(options, shape, pathlib.Path(folder)) for shape in options.shape or [(10 ** 6, 16, 256)]]
    sys.exit(0 if all(agree) else 1)


if __name__ == "__main__":
    main()
