#!/usr/bin/env python3
"""Compares the default number of threads of openmp with one thread, in new processes.

Usage: default_threads.py [BUILD] [--processes N] [--shapes NxDxK,...] [--only fit|kmeans] [--json FILE]

BUILD is a build folder (default: build/release) with bin/lloyd, bin/embedded_fit and their plugins. For each
shape, each of N rounds (default 20) starts `lloyd fit` and a program that calls lloyd::kmeans(), each with the
default settings and with threads=1, one after the other, in alternating order. The times are those of the fit
as the programs report them, from random initial centroids, with 30 iterations, or 10 if samples x features x
clusters is at least 1e8.

Prints the median and the 90th percentile of the time per iteration. The status is 1 if one of them is more than
1.1 times that of one thread, or if the speedup of the median is below 1.7 although samples x features x clusters
is at least 1e8 and the process may use several processors. The machine should be idle: other processes disturb
both settings, but two threads twice as often.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

SHAPES = ("150x4x3,1000x2x8,1000x16x32,5000x8x32,10000x2x32,10000x16x64,7777x33x129,50000x8x64,100000x16x64,"
          "100000x32x100,1000000x2x64,1000000x16x32")
LARGE = 10 ** 8
MAX_RATIO = 1.1
MIN_SPEEDUP = 1.7


class Problem:
    def __init__(self, text):
        self.samples, self.features, self.clusters = (int(float(number)) for number in text.split("x"))
        self.work = self.samples * self.features * self.clusters
        self.iterations = 10 if self.work >= LARGE else 30

    def __str__(self):
        return f"{self.samples}x{self.features}x{self.clusters}"


def output_of(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"default_threads.py: {command[0]} failed: {done.stderr.strip()}")
    return done.stdout


def fit(build, data, problem, threads):
    """Milliseconds per iteration of `lloyd fit`."""
    record = json.loads(output_of([
        build / "bin/lloyd", "fit", data, "-k", problem.clusters, "--seeding", "random", "--iterations",
        problem.iterations, "--backend", "openmp", "--json",
        *(["--param", f"threads={threads}"] if threads else [])]))
    return record["fit_ms"] / record["iterations"]


def kmeans(build, _data, problem, threads):
    """Milliseconds per iteration of a program that calls lloyd::kmeans()."""
    words = output_of([build / "bin/embedded_fit", problem.samples, problem.features, problem.clusters,
                       problem.iterations, *([threads] if threads else [])]).split()
    return float(words[0]) / int(words[1])


def percentile_90(times):
    return sorted(times)[min(len(times) - 1, round(0.9 * (len(times) - 1)))]


def compare(times, large):
    """The medians and 90th percentiles of both settings, their ratios, and the limits that are missed."""
    row = {}
    for name, values in times.items():
        row[name] = {"median": statistics.median(values), "p90": percentile_90(values)}
    faults = [name for name in ("median", "p90") if row["default"][name] > MAX_RATIO * row["one"][name]]
    row["speedup"] = row["one"]["median"] / row["default"]["median"]
    row["p90_ratio"] = row["default"]["p90"] / row["one"]["p90"]
    if large and row["speedup"] < MIN_SPEEDUP:
        faults.append("speedup")
    row["faults"] = faults
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", nargs="?", default="build/release", type=pathlib.Path)
    parser.add_argument("--processes", type=int, default=20)
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--only", choices=["fit", "kmeans"])
    parser.add_argument("--json", type=pathlib.Path, help="writes all times to a file")
    options = parser.parse_args()
    programs = [program for program in (fit, kmeans) if options.only in (None, program.__name__)]
    several = len(os.sched_getaffinity(0)) > 1
    print(f"{'':24}{'median, ms/iteration':^32}{'90th percentile':^32}\n{'samples features clusters':<26}"
          f"{'program':<8}{'one':>9}{'default':>9}{'one/def':>9}{'one':>11}{'default':>9}{'def/one':>9}")
    faults = 0
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for problem in map(Problem, options.shapes.split(",")):
            data = pathlib.Path(folder) / f"{problem}.npy"
            output_of([options.build / "bin/lloyd", "data", "blobs", data, "--samples", problem.samples, "--features",
                       problem.features, "--centers", problem.clusters])
            times = {program: {"default": [], "one": []} for program in programs}
            for round_ in range(options.processes):
                settings = [("default", 0), ("one", 1)]
                for program in programs:
                    for name, threads in settings if round_ % 2 == 0 else reversed(settings):
                        times[program][name].append(program(options.build, data, problem, threads))
            for program in programs:
                row = compare(times[program], several and problem.work >= LARGE)
                one, default = row["one"], row["default"]
                print(f"{problem.samples:>7} {problem.features:>8} {problem.clusters:>8} {program.__name__:<8}"
                      f"{one['median']:9.4f}{default['median']:9.4f}{row['speedup']:9.2f}  "
                      f"{one['p90']:9.4f}{default['p90']:9.4f}{row['p90_ratio']:9.2f}"
                      f"{'  misses: ' + ', '.join(row['faults']) if row['faults'] else ''}", flush=True)
                faults += len(row["faults"])
                rows.append({"shape": str(problem), "program": program.__name__, "times": times[program], **row})
            data.unlink()
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
