"""The time of one iteration on all ranks: their own work, then the all-reduce, message by message."""

import dataclasses
import functools
import random

from .problem import CHUNK_VALUES, cell_seconds, compute_seconds
from .schedules import SCHEDULES
from .simulation import Simulation


@dataclasses.dataclass
class Iteration:
    compute: float  # of the mean rank
    waiting: float  # of the mean rank for the slowest
    cells: float  # cell_seconds()
    all_reduce: float  # from the entry of the last rank to the exit of the last
    messages: int  # of all ranks
    sent_bytes: float
    network_bytes: float

    @property
    def seconds(self):
        return self.compute + self.waiting + self.cells + self.all_reduce


def start_times(mean, imbalance, ranks):
    """When each rank enters the all-reduce: uniform around the mean, and the slowest at mean x (1 + imbalance)."""
    if ranks == 1 or imbalance == 0:
        return [mean] * ranks
    draw = random.Random(ranks)
    offsets = [draw.uniform(-1, 1) for _ in range(ranks)]
    offsets[draw.randrange(ranks)] = 1
    return [mean * (1 + imbalance * offset) for offset in offsets]


def all_reduce(schedule, values, machine, ranks, start, chunk_values=CHUNK_VALUES):
    """Results of the chunks, one after the other, and how often each occurs: of many equal chunks two are simulated."""
    full, rest = divmod(values, chunk_values)
    sizes = [chunk_values] * min(full, 2) + [rest] * (rest > 0)
    times = [1] * len(sizes)
    if full > 2:
        times[1] = full - 1
    results = []
    for size in sizes:
        result = Simulation(machine).run(
            lambda rank, size=size: schedule(ranks, rank, size, machine), ranks, start)
        results.append(result)
        start = result.finished
    return list(zip(results, times, strict=True))


def simulate_iteration(problem, machine, ranks, algorithm):
    schedule = SCHEDULES[algorithm]
    values = problem.message_values(ranks)
    cells = cell_seconds(problem, machine)
    if algorithm == "by-centroid":
        schedule = functools.partial(schedule, values_per_sum=problem.sum_values(ranks) / problem.cells)
        cells = cells / 2 + cells / 2 / ranks  # sums and means are half of it
    compute = compute_seconds(problem, machine, ranks)
    start = start_times(compute, machine.imbalance, ranks)
    last = max(start)
    reduction, before = 0, last
    messages, sent, network = 0, 0, 0
    for result, times in all_reduce(schedule, values, machine, ranks, start) if ranks > 1 else []:
        reduction += (result.seconds - before) * times
        before = result.seconds
        messages += result.messages * times
        sent += result.sent_bytes * times
        network += result.network_bytes * times
    return Iteration(compute, last - compute, cells, reduction, messages, sent, network)
