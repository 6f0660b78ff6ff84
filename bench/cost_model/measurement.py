"""Measures all-reduces and iterations with rank_times, and predicts them from fitted links."""

import dataclasses
import json
import os
import shlex
import subprocess

from .iteration import all_reduce
from .problem import CHUNK_VALUES, Machine, Problem
from .schedules import SCHEDULES

# Up to this many values per MPI call: messages that Open MPI sends at once, those that fit into caches, all others.
RANGES = (512, 65536, CHUNK_VALUES)
RABENSEIFNER_VALUES = 8192  # Open MPI 4.1 uses it from here on, with at least 4 ranks


class MeasurementError(Exception):
    pass


@dataclasses.dataclass
class AllReduce:
    ranks: int
    values: int
    measured: float  # milliseconds
    predicted: float | None  # None: there are fewer processors than threads

    @property
    def ratio(self):
        return self.predicted and self.predicted / self.measured


@dataclasses.dataclass
class Iteration:
    ranks: int
    problem: Problem
    alone: float  # milliseconds: of the slowest rank, without communication
    communication: float
    waiting: float
    measured: float
    predicted: float | None

    @property
    def ratio(self):
        return self.predicted and self.predicted / self.measured


@dataclasses.dataclass
class Predictions:
    all_reduces: list
    iterations: list


def measure(build, mpirun, problem, ranks, options):
    """The JSON of rank_times."""
    processors = len(os.sched_getaffinity(0))
    threads = options.threads or max(1, processors // ranks)
    command = [*shlex.split(mpirun), "-n", ranks, build / "bin/rank_times", problem.samples, problem.features,
               problem.clusters, options.iterations, options.rounds, threads]
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
    except OSError as error:
        raise MeasurementError(f"{command[0]} cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        raise MeasurementError(f"{shlex.join(map(str, command))} failed: {done.stderr.strip()}")
    return {**json.loads(done.stdout), "threads": threads, "processors": processors}


def links_of(latency, seconds_per_byte):
    """A machine of one host, on which a value is added in half the time in which it is received."""
    return Machine(local_latency=latency, local_bandwidth=1 / seconds_per_byte, network_latency=0,
                   network_bandwidth=1, reduce_bandwidth=2 / seconds_per_byte, rank_flops=1, cell_time=0,
                   ranks_per_host=2 ** 30)


def seconds_of(values, ranks, links):
    """Of one MPI call after another, by the algorithm that Open MPI 4.1 chooses for each."""
    seconds = 0
    for first in range(0, values, CHUNK_VALUES):
        count = min(CHUNK_VALUES, values - first)
        name = "rabenseifner" if ranks >= 4 and count >= RABENSEIFNER_VALUES else "binomial"
        machine = next(machine for limit, machine in zip(RANGES, links, strict=True) if count <= limit)
        [(result, _)] = all_reduce(SCHEDULES[name], count, machine, ranks, [0.0] * ranks)
        seconds += result.seconds
    return seconds


def fit_line(rows):
    """Latency and seconds per byte with the least squares of relative errors over the all-reduces of 2 ranks.

    Both enter linearly: t = x latency + y seconds_per_byte, where x and y are the times for units of each.
    """
    xx, xy, yy, sum_x, sum_y = 0, 0, 0, 0, 0
    for values, seconds in rows:
        x = 2 * -(-values // CHUNK_VALUES) / seconds
        y = seconds_of(values, 2, [links_of(0, 1)] * len(RANGES)) / seconds
        xx, xy, yy, sum_x, sum_y = xx + x * x, xy + x * y, yy + y * y, sum_x + x, sum_y + y
    scale = xx * yy - xy * xy
    latency, slope = (sum_x * yy - sum_y * xy) / scale, (sum_y * xx - sum_x * xy) / scale
    if latency < 0:
        latency, slope = 0, sum_y / yy
    return links_of(latency, max(slope, 1e-15))


def fit_links(found):
    """Links for each of RANGES; None if a range has fewer than two sizes of all-reduces of 2 ranks."""
    links, above = [], 0
    for limit in RANGES:
        last = limit == RANGES[-1]
        rows = [(row["values"], row["ms"] / 1000) for run in found if run["ranks"] == 2 for row in run["all_reduce"]
                if above < row["values"] and (last or row["values"] <= limit)]
        if len({values for values, _ in rows}) < 2:
            return None
        links.append(fit_line(rows))
        above = limit
    return links


def predict(found, links):
    predictions = Predictions([], [])
    for run in found:
        ranks = run["ranks"]
        fits = ranks * run["threads"] <= run["processors"]
        for row in run["all_reduce"]:
            predicted = 1000 * seconds_of(row["values"], ranks, links) if fits else None
            predictions.all_reduces.append(AllReduce(ranks, row["values"], row["ms"], predicted))
        problem = Problem(run["samples"], run["features"], run["clusters"], run["value_bits"])
        values = problem.message_values(ranks)
        if ranks > 1 and values != run["message_values"]:
            raise MeasurementError(f"the model expects messages of {values} values, but those of ({problem}) on {ranks} "
                                   f"ranks have {run['message_values']}")
        communication = 1000 * seconds_of(values, ranks, links) if ranks > 1 else 0
        predictions.iterations.append(
            Iteration(ranks, problem, run["alone_ms"], run["communication_ms"], run["waiting_ms"], run["together_ms"],
                      run["alone_ms"] + communication if fits else None))
    return predictions
