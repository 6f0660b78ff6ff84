"""Message schedules of an all-reduce, as the steps of each rank.

A schedule is a function of (ranks, rank, values, machine) that yields the steps of a rank. Values are split into
ranges [begin, end). A step sends a range to a rank, receives one from a rank, or both at the same time; a received
range is added to the rank's own values, or replaces them.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Step:
    to: int = -1  # -1: sends nothing
    sent: tuple = (0, 0)
    source: int = -1  # -1: receives nothing
    received: tuple = (0, 0)
    adds: bool = False
    bytes_per_value: float = 8


def _power_of_two(ranks):
    return 1 << (ranks.bit_length() - 1)


def _reduce_to_first(members, index, whole):
    """Binomial tree; members[0] ends with the sum."""
    distance = 1
    while distance < len(members):
        if index & distance:
            yield Step(to=members[index - distance], sent=whole)
            return
        if index + distance < len(members):
            yield Step(source=members[index + distance], received=whole, adds=True)
        distance *= 2


def _broadcast_from_first(members, index, whole):
    """Binomial tree; the steps of _reduce_to_first() in reverse."""
    distance = 1
    while distance < len(members) and not index & distance:
        distance *= 2
    if index:
        yield Step(source=members[index - distance], received=whole)
    distance //= 2
    while distance:
        if index + distance < len(members):
            yield Step(to=members[index + distance], sent=whole)
        distance //= 2


def _with_power_of_two(members, index, whole, inner):
    """Folds the members beyond a power of two into their neighbours, and unfolds them at the end."""
    core = _power_of_two(len(members))
    rest = len(members) - core
    if index < 2 * rest:
        neighbour = members[index ^ 1]
        if index % 2 == 1:
            yield Step(to=neighbour, sent=whole)
            yield Step(source=neighbour, received=whole)
            return
        yield Step(source=neighbour, received=whole, adds=True)
    position = index // 2 if index < 2 * rest else index - rest
    inside = [members[2 * i] if i < rest else members[i + rest] for i in range(core)]
    yield from inner(inside, position, whole)
    if index < 2 * rest:
        yield Step(to=members[index ^ 1], sent=whole)


def _doubling(members, index, whole):
    distance = 1
    while distance < len(members):
        peer = members[index ^ distance]
        yield Step(to=peer, sent=whole, source=peer, received=whole, adds=True)
        distance *= 2


def _halving(members, index, whole, gathered_bytes):
    """Reduce-scatter by recursive halving, all-gather by recursive doubling."""
    begin, end = whole
    distance = len(members) // 2
    history = []
    while distance:
        middle = (begin + end) // 2
        low, high = (begin, middle), (middle, end)
        kept, given = (high, low) if index & distance else (low, high)
        peer = members[index ^ distance]
        yield Step(to=peer, sent=given, source=peer, received=kept, adds=True)
        history.append((peer, kept, given))
        begin, end = kept
        distance //= 2
    for peer, kept, given in reversed(history):
        yield Step(to=peer, sent=kept, source=peer, received=given, bytes_per_value=gathered_bytes)


def binomial(ranks, rank, values, machine):
    """Reduce to rank 0, then broadcast, both by binomial trees: Open MPI 4.1's MPI_Iallreduce for small messages, for
    fewer than 4 ranks, and in place."""
    members = range(ranks)
    yield from _reduce_to_first(members, rank, (0, values))
    yield from _broadcast_from_first(members, rank, (0, values))


def recursive_doubling(ranks, rank, values, machine):
    """Pairs exchange all values, at distances 1, 2, 4 ..."""
    yield from _with_power_of_two(range(ranks), rank, (0, values), _doubling)


def rabenseifner(ranks, rank, values, machine):
    """Reduce-scatter by recursive halving, then all-gather: MPICH's choice for messages above 2 KiB."""
    yield from _with_power_of_two(range(ranks), rank, (0, values),
                                  lambda *arguments: _halving(*arguments, gathered_bytes=8))


def by_centroid(ranks, rank, values, machine, values_per_sum=3):
    """As rabenseifner(), but each rank divides the sums that it holds, and the means are gathered as float64."""
    yield from _with_power_of_two(range(ranks), rank, (0, values),
                                  lambda *arguments: _halving(*arguments, gathered_bytes=8 / values_per_sum))


def ring(ranks, rank, values, machine):
    """Reduce-scatter and all-gather with the neighbours in a ring."""
    bounds = [values * i // ranks for i in range(ranks + 1)]
    following, before = (rank + 1) % ranks, (rank - 1) % ranks
    for phase in range(2):
        for step in range(ranks - 1):
            sent = (rank - step + phase) % ranks
            received = (sent - 1) % ranks
            yield Step(to=following, sent=(bounds[sent], bounds[sent + 1]), source=before,
                       received=(bounds[received], bounds[received + 1]), adds=phase == 0)


def hierarchical(ranks, rank, values, machine):
    """Trees within each host, and rabenseifner() among the first ranks of the hosts."""
    first = rank - rank % machine.ranks_per_host
    members = range(first, min(first + machine.ranks_per_host, ranks))
    whole = (0, values)
    yield from _reduce_to_first(members, rank - first, whole)
    if rank == first:
        leaders = range(0, ranks, machine.ranks_per_host)
        yield from _with_power_of_two(leaders, first // machine.ranks_per_host, whole,
                                      lambda *arguments: _halving(*arguments, gathered_bytes=8))
    yield from _broadcast_from_first(members, rank - first, whole)


SCHEDULES = {schedule.__name__.replace("_", "-"): schedule
             for schedule in (binomial, recursive_doubling, rabenseifner, ring, hierarchical, by_centroid)}
