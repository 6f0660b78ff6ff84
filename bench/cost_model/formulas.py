"""Closed formulas for the time of an all-reduce on equal links between all ranks.

m: bytes; P: ranks, a power of two except for binomial(); a: latency; b: seconds per byte of a link; c: seconds per
added byte. All ranks begin at the same time.
"""

from .problem import log2_ceil


def binomial(m, P, a, b, c):
    return log2_ceil(P) * (2 * (a + m * b) + m * c)


def recursive_doubling(m, P, a, b, c):
    return log2_ceil(P) * (a + m * b + m * c)


def rabenseifner(m, P, a, b, c):
    return 2 * log2_ceil(P) * a + (P - 1) / P * m * (2 * b + c)


def by_centroid(m, P, a, b, c, values_per_sum=3):
    return 2 * log2_ceil(P) * a + (P - 1) / P * m * ((1 + 1 / values_per_sum) * b + c)


def ring(m, P, a, b, c):
    return 2 * (P - 1) * a + (P - 1) / P * m * (2 * b + c)


def hierarchical(m, hosts, per_host, local, network, c):
    """`local`, `network`: (a, b) within a host and between hosts."""
    return binomial(m, per_host, *local, c) + rabenseifner(m, hosts, *network, c)


# Messages of all ranks together, for a power of two.
def binomial_messages(P):
    return 2 * (P - 1)


def recursive_doubling_messages(P):
    return P * log2_ceil(P)


def rabenseifner_messages(P):
    return 2 * P * log2_ceil(P)


def ring_messages(P):
    return 2 * P * (P - 1)


def hierarchical_messages(hosts, per_host):
    return 2 * hosts * (per_host - 1) + rabenseifner_messages(hosts)
