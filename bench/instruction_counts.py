#!/usr/bin/env python3
"""Compares the instruction counts of an iteration of openmp in two builds, which shows slowdowns without
timing.

Usage: instruction_counts.py [OLD [NEW]] [--margin PERCENT] [--isa SET]

OLD and NEW are programs (BUILD/bin/lloyd, with its plugins beside it) or commits, which are built in
build/commits/; by default the parent commit (HEAD^) and the commit itself (HEAD). Prints a line for
each shape. Ends with status 1 if any count differs by more than the margin (2 %), with 2 for bad use.

Both are counted by callgrind on this machine, one after the other: a count depends on cache sizes and on
what libc selects for a processor, so it is compared, never stored. Needs valgrind.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Samples, features, clusters, options: few features, tiles, integers, and bounds.
SHAPES = [(100000, 2, 32, []), (8000, 24, 7, []), (8000, 16, 64, []),
          (8000, 16, 64, ["--param", "algorithm=hamerly"])]
# Work before and after the iterations is in both counts and cancels out, but for Highway, which measures
# the resolution of the clock as it starts, in up to 100000 instructions more or less.
FIRST, LAST = 3, 43


class Refused(Exception):
    """Wrong usage; the message is one sentence."""


def execute(*words, cwd=None):
    try:
        return subprocess.run(list(map(str, words)), capture_output=True, text=True, cwd=cwd)
    except FileNotFoundError:
        raise Refused(f"{words[0]} is not installed") from None


def call(*words, cwd=None):
    done = execute(*words, cwd=cwd)
    if done.returncode != 0:
        raise Refused(f"{' '.join(map(str, words))}: {(done.stderr or done.stdout).strip()[-1000:]}")
    return done


def build(commit):
    """Builds a commit in a work tree of its own and returns its program."""
    found = execute("git", "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}", cwd=ROOT)
    if found.returncode != 0:
        raise Refused(f"'{commit}' is neither a program nor a commit")
    digest = found.stdout.strip()
    folder = ROOT / "build" / "commits" / digest[:12]
    if not (folder / "source").exists():
        call("git", "worktree", "prune", cwd=ROOT)
        call("git", "worktree", "add", "--detach", folder / "source", digest, cwd=ROOT)
    print(f"building {digest[:12]} in {folder}", file=sys.stderr)
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    call("cmake", "-S", folder / "source", "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
         "-DLLOYD_BUILD_TESTS=OFF", "-DLLOYD_BUILD_BENCH=OFF", "-DLLOYD_BUILD_CUDA=OFF", *launcher)
    call("cmake", "--build", folder / "build", "--target", "lloyd")
    return folder / "build" / "bin" / "lloyd"


def program(name):
    path = pathlib.Path(name)
    return path.resolve() if path.is_file() and os.access(path, os.X_OK) else build(name)


def instructions(lloyd, file, clusters, isa, options, iterations):
    done = call("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", lloyd, "fit", file,
                "--backend", "openmp", "--param", "threads=1", "--param", f"isa={isa}", *options,
                "--clusters", clusters, "--seeding", "random", "--seed", "1", "--iterations", iterations,
                "--json")
    return int(re.search(r"Collected : ([0-9]+)", done.stderr)[1])


def count(lloyd, file, clusters, isa, options):
    """Returns the number of instructions of one iteration."""
    return (instructions(lloyd, file, clusters, isa, options, LAST) -
            instructions(lloyd, file, clusters, isa, options, FIRST)) // (LAST - FIRST)


def compare(old, new, isa, margin):
    """Prints a line for each shape and returns whether all are within the margin."""
    within = True
    print(f"{'samples':>8} {'features':>8} {'clusters':>8} {'old':>12} {'new':>12} {'new/old':>8}")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "samples.npy"
        for samples, features, clusters, options in SHAPES:
            call(old, "data", "blobs", file, "--samples", samples, "--features", features, "--centers",
                 clusters, "--std", "4", "--seed", "1")
            before, after = (count(lloyd, file, clusters, isa, options) for lloyd in (old, new))
            ratio = after / before
            outside = abs(ratio - 1) > margin / 100
            within = within and not outside
            print(f"{samples:8} {features:8} {clusters:8} {before:12} {after:12} {ratio:8.3f}"
                  f"{'  ' + options[-1] if options else ''}{'  beyond the margin' if outside else ''}",
                  flush=True)
    return within


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", nargs="?", default="HEAD^", metavar="OLD")
    parser.add_argument("new", nargs="?", default="HEAD", metavar="NEW")
    parser.add_argument("--margin", type=float, default=2, metavar="PERCENT")
    parser.add_argument("--isa", default="avx2", metavar="SET", help="the openmp parameter (default: avx2, "
                        "the widest of x86-64 that valgrind knows)")
    arguments = parser.parse_args()
    try:
        if not shutil.which("valgrind"):
            raise Refused("valgrind is not installed")
        same = compare(program(arguments.old), program(arguments.new), arguments.isa, arguments.margin)
    except Refused as reason:
        print(f"instruction_counts.py: {reason}", file=sys.stderr)
        return 2
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
