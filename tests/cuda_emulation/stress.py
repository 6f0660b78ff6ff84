#!/usr/bin/env python3
"""Compares an emulated plugin with openmp, which is exact, bit by bit: stress.py LLOYD FOLDER PLUGIN SECONDS [SEED]

Random shapes, data and parameters. Prints the command of each difference and keeps its data."""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

import numpy

lloyd, folder, plugin, seconds = sys.argv[1:5]
seed = int(sys.argv[5]) if len(sys.argv) > 5 else 0
folder = pathlib.Path(folder)
work = folder / f"stress-{plugin}-{seed}"
work.mkdir(parents=True, exist_ok=True)


def make_data(rng, dtype):
    kind = rng.choice(["few", "few", "fused", "middle", "many features", "many clusters", "long"])
    n, d, k = rng.randint(1, 500), rng.randint(1, 40), rng.randint(1, 60)
    if kind == "fused":
        n, d, k = rng.randint(1, 12000), rng.randint(1, 16), rng.randint(1, 130)
    if kind == "middle":
        n, d, k = rng.randint(100, 500), rng.randint(9, 300), rng.randint(1, 200)
    if kind == "many features":
        n, d, k = rng.randint(1, 130), rng.randint(200, 1000), rng.randint(1, 40)
    if kind == "many clusters":
        n, d, k = rng.randint(300, 2600), rng.randint(1, 20), rng.randint(200, 2500)
    if kind == "long":
        n, d, k = rng.randint(1000, 6000), rng.randint(1, 33), rng.randint(2, 40)
    k = min(k, n)
    numbers = numpy.random.default_rng(rng.getrandbits(32))
    shape = rng.choice(["normal", "blobs", "lattice", "duplicates", "equal", "offset", "denormal",
                        "one large feature", "huge", "heavy tails", "tiny differences"])
    x = numbers.standard_normal((n, d))
    if shape == "blobs":
        x = 0.05 * x + numbers.standard_normal((k, d))[numbers.integers(0, k, n)]
    if shape == "lattice":
        x = numpy.round(x * 2)
    if shape == "duplicates":
        x = x[numbers.integers(0, max(n // 8, 1), n)]
    if shape == "equal":
        x[:] = x[0]
    if shape == "offset":
        x += 1e6
    if shape == "denormal":
        x *= 1e-310 if dtype == "float64" else 1e-40
    if shape == "one large feature":
        x[:, rng.randrange(d)] *= 1e4
    if shape == "huge":
        x *= 10.0 ** rng.randint(100, 200) if dtype == "float64" else 1e30
    if shape == "heavy tails":
        x = numbers.standard_cauchy((n, d)) ** 3
    if shape == "tiny differences":
        x = 1 + x * (1e-12 if dtype == "float64" else 1e-6)
    return x.astype(dtype), k, shape


def fit(backend, data, k, options, name, order=0):
    command = [lloyd, "fit", str(data), "-b", backend, "-k", str(k), "--plugin-dir", str(folder),
               "--labels", str(work / f"{name}-labels.npy"),
               "--centroids", str(work / f"{name}-centroids.npy"), *options]
    environment = dict(os.environ, LLOYD_EMULATION_SEED=str(order))
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    return command, result


rng = random.Random(seed)
begin = time.time()
runs = differences = refused = 0
fallbacks = labels = 0
while time.time() - begin < float(seconds):
    dtype = rng.choice(["float32", "float64"])
    x, k, shape = make_data(rng, dtype)
    data = work / "data.npy"
    numpy.save(data, x)
    options = ["--seed", str(rng.randrange(1000)),
               "--seeding", rng.choice(["k-means++"] + 4 * ["random", "first"])]
    options += ["--empty-clusters", rng.choice(["relocate", "keep"])]
    options += rng.choice([["--iterations", str(rng.randint(1, 6))], ["--max-iterations", "8"]])
    if rng.random() < 0.15:  # initial centroids far from the samples
        far = x[:k].astype("float64") * 10.0 ** rng.randint(0, 6) + rng.choice([0, 0, 1e3])
        if rng.random() < 0.3:  # by a few times the largest value
            far = x[:k].astype("float64") * 1e-3 + rng.uniform(2, 12) * numpy.abs(x.astype("float64")).max()
        if numpy.isfinite(far).all() and numpy.isfinite(far.astype(dtype)).all():
            numpy.save(work / "far.npy", far.astype(dtype))
            options[options.index("--seeding") + 1] = str(work / "far.npy")
    special = []
    if plugin == "cuda-fast":
        paths = ["auto", "wgmma", "wgmma", "mma", "mma", "direct"]
        if x.shape[1] <= 16:
            paths += 6 * ["auto"]  # the fused kernel, if there are few clusters
        special += ["--param", "path=" + rng.choice(paths)]
    order = rng.choice([0, -1, rng.randrange(1, 1000)])
    command, result = fit(plugin, data, k, options + special, "emulated", order)
    _, expected = fit("openmp", data, k, options, "expected")
    runs += 1
    if runs % 50 == 0:
        print(f"{runs} fits, {differences} differences", flush=True)
    if result.returncode != 0 and expected.returncode != 0:
        refused += 1
        continue
    what = []
    if result.returncode != 0 or expected.returncode != 0:
        what.append(f"exit codes {result.returncode} and {expected.returncode}: "
                    f"{result.stderr[-600:]}{expected.stderr[-600:]}")
    else:
        if "differ" in result.stdout:
            what.append(next(line for line in result.stdout.splitlines() if "differ" in line))
        for name in ("labels", "centroids"):
            emulated = numpy.load(work / f"emulated-{name}.npy")
            reference = numpy.load(work / f"expected-{name}.npy")
            if emulated.tobytes() != reference.tobytes():
                different = numpy.argwhere(emulated != reference)
                what.append(f"{name} differ in {len(different)} of {emulated.size}, first {different[:3].tolist()}")
    if what:
        differences += 1
        kept = work / f"difference{differences}"
        kept.mkdir(exist_ok=True)
        shutil.copy(data, kept)
        if (work / "far.npy").exists():
            shutil.copy(work / "far.npy", kept)
        print(f"DIFFERENCE {shape} n={x.shape[0]} d={x.shape[1]} k={k} order={order}: {'; '.join(what)}\n  "
              + " ".join(command).replace(str(data), str(kept / "data.npy")), flush=True)
print(f"{runs} fits, {differences} differences, {refused} refused by both")
