#!/usr/bin/env python3
"""Predicts the iterations of a distributed fit by simulating every message, and compares predictions with measurements.

Usage: scaling.py predict [--shape NxDxK]... [--ranks P,...] [--algorithms NAME,...] [--SETTING VALUE]...
       scaling.py measure [--build BUILD] [--shape NxDxK]... [--ranks P,...] [--threads T] [--json FILE]

docs/scaling.md describes the model and its constants; `--help` lists the settings of a machine.
"""

import argparse
import dataclasses
import json
import pathlib
import sys

from cost_model.iteration import simulate_iteration
from cost_model.measurement import RANGES, MeasurementError, fit_links, measure, predict
from cost_model.problem import Machine, Problem, rank_bytes
from cost_model.schedules import SCHEDULES

PREDICTED_SHAPES = ("1e9x128x1000", "1e10x128x1e5", "1e11x768x1e6")
MEASURED_SHAPES = ("1e6x16x32", "1e6x16x256", "2e5x64x256", "1e5x128x1000")
MAX_MESSAGES = 3e6  # per simulated chunk; a ring of more ranks is left out

# A cluster as docs/scaling.md assumes it.
CLUSTER = Machine(
    local_latency=1e-6, local_bandwidth=5e9, network_latency=2e-6, network_bandwidth=12.5e9, reduce_bandwidth=5e9,
    rank_flops=32 * 100e9, cell_time=45e-9)


def parse_shape(text):
    try:
        samples, features, clusters = (int(float(number)) for number in text.split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"the shape '{text}' is not SAMPLESxFEATURESxCLUSTERS") from None
    if min(samples, features, clusters) < 1:
        raise argparse.ArgumentTypeError(f"the shape '{text}' has a number below 1")
    return Problem(samples, features, clusters)


def parse_ranks(text):
    try:
        ranks = [int(number) for number in text.split(",")]
    except ValueError:
        ranks = [0]
    if min(ranks) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of integers >= 1, separated by commas")
    return ranks


def parse_algorithms(text):
    names = text.split(",")
    for name in names:
        if name not in SCHEDULES:
            raise argparse.ArgumentTypeError(f"unknown algorithm '{name}'; there are {', '.join(SCHEDULES)}")
    return names


def milliseconds(seconds):
    number = seconds * 1000
    return f"{number:.3g}" if number < 1000 else f"{number:.0f}"


def optional(value, width, digits):
    return f"{'-':>{width}}" if value is None else f"{value:>{width}.{digits}f}"


def print_predictions(options):
    machine = Machine(**{field.name: getattr(options, field.name) for field in dataclasses.fields(Machine)})
    for problem in options.shape or map(parse_shape, PREDICTED_SHAPES):
        print(f"({problem}): {problem.bits} bits per value")
        print(f"{'ranks':>6} {'limbs':>5} {'message':>10} {'memory':>9} {'algorithm':<19}{'compute':>9}{'waiting':>9}"
              f"{'cells':>9}{'all-reduce':>11}{'iteration':>10}{'efficiency':>11}")
        print(f"{'':6} {'':5} {'MB':>10} {'GB/rank':>9} {'':<19}{'ms':>9}{'ms':>9}{'ms':>9}{'ms':>11}{'ms':>10}{'%':>11}")
        alone = simulate_iteration(problem, machine, 1, "binomial").seconds
        for ranks in options.ranks or [2, 16, 128, 1024, 4096, 10000]:
            for name in options.algorithms or SCHEDULES:
                if name == "ring" and 2 * ranks ** 2 > MAX_MESSAGES:
                    continue
                if name == "hierarchical" and machine.ranks_per_host == 1:
                    continue
                found = simulate_iteration(problem, machine, ranks, name)
                print(f"{ranks:>6} {problem.limbs(ranks):>5} {problem.message_bytes(ranks) / 1e6:>10.4g} "
                      f"{rank_bytes(problem, ranks) / 1e9:>9.3g} {name:<19}"
                      f"{milliseconds(found.compute):>9}{milliseconds(found.waiting):>9}{milliseconds(found.cells):>9}"
                      f"{milliseconds(found.all_reduce):>11}{milliseconds(found.seconds):>10}"
                      f"{100 * alone / ranks / found.seconds:>11.1f}", flush=True)
        print()


def print_measurements(options):
    """Measures, fits the links to the all-reduces of two ranks, and prints predictions beside measurements."""
    shapes = options.shape or [parse_shape(shape) for shape in MEASURED_SHAPES]
    found = [measure(options.build, options.mpirun, shape, ranks, options)
             for shape in shapes for ranks in options.ranks or [1, 2, 4]]
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    links = fit_links(found)
    if links is None:
        print("all-reduces between 2 ranks were not measured, so nothing is predicted")
        return
    above = 0
    for limit, machine in zip(RANGES, links, strict=True):
        sizes = f"{above + 1} to {limit} values" if limit < RANGES[-1] else f"more than {above} values"
        print(f"links, fitted to the all-reduces of 2 ranks with {sizes}: latency "
              f"{1e6 * machine.local_latency:.1f} us, bandwidth {machine.local_bandwidth / 1e9:.2f} GB/s")
        above = limit
    predictions = predict(found, links)
    print("\nmedians in ms; -: more threads than processors, so nothing is predicted\n"
          f"{'ranks':>5} {'values':>9}{'measured':>10}{'predicted':>10}{'ratio':>7}   all-reduce")
    for row in predictions.all_reduces:
        print(f"{row.ranks:>5} {row.values:>9}{row.measured:>10.4f}{optional(row.predicted, 10, 4)}{optional(row.ratio, 7, 2)}")
    print(f"\n{'ranks':>5} {'samples':>9}{'features':>9}{'clusters':>9}{'alone':>9}{'all-reduce':>11}{'wait':>8}"
          f"{'measured':>10}{'predicted':>10}{'ratio':>7}   iteration")
    for row in predictions.iterations:
        print(f"{row.ranks:>5} {row.problem.samples:>9}{row.problem.features:>9}{row.problem.clusters:>9}{row.alone:>9.3f}"
              f"{row.communication:>11.3f}{row.waiting:>8.3f}{row.measured:>10.3f}{optional(row.predicted, 10, 3)}"
              f"{optional(row.ratio, 7, 2)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    prediction = commands.add_parser("predict", help="simulates iterations on a cluster")
    measurement = commands.add_parser("measure", help="measures on this machine, beside predictions")
    for command in (prediction, measurement):
        command.add_argument("--shape", type=parse_shape, action="append", metavar="NxDxK", help="may be repeated")
        command.add_argument("--ranks", type=parse_ranks, metavar="P,...")
    prediction.add_argument("--algorithms", type=parse_algorithms, metavar="NAME,...", help=", ".join(SCHEDULES))
    for field in dataclasses.fields(Machine):
        prediction.add_argument(f"--{field.name.replace('_', '-')}", type=field.type, metavar="VALUE",
                                default=getattr(CLUSTER, field.name), help="default: %(default)g")
    measurement.add_argument("--build", default="build/release", type=pathlib.Path)
    measurement.add_argument("--mpirun", default="mpirun", help="the launcher and its options; default: %(default)s")
    measurement.add_argument("--threads", type=int, help="per rank; default: the processors divided by the ranks")
    measurement.add_argument("--iterations", type=int, default=11, help="per fit; default: %(default)s")
    measurement.add_argument("--rounds", type=int, default=9, help="per shape and number of ranks; default: %(default)s")
    measurement.add_argument("--json", type=pathlib.Path, help="writes the measurements to a file")
    options = parser.parse_args()
    try:
        print_predictions(options) if options.command == "predict" else print_measurements(options)
    except MeasurementError as error:
        sys.exit(f"scaling.py: {error}")


if __name__ == "__main__":
    main()
