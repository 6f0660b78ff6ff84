"""Problems and machines, and what follows from them without simulation: message size, memory, time of one rank."""

import dataclasses
import math

FIELDS = 6  # PassMessage::fields
CHUNK_VALUES = 2 ** 20  # MpiCommunicator::kMaxElements: values per MPI call
VALUE_BYTES = 8


def limb_bits(ranks):
    """Bits per limb of a sum; mirrors message_limbs() in core/src/distributed/pass_message.hpp."""
    return 62 - (ranks - 1).bit_length()


@dataclasses.dataclass(frozen=True)
class Problem:
    samples: int
    features: int
    clusters: int
    value_bits: int = 0  # bits of the largest |value| / quantum of a feature; 0: estimated

    @property
    def cells(self):
        return self.clusters * self.features

    @property
    def bits(self):
        """Estimate for random float32 values of 24 bits: the smallest of n x d values is 1 / (4 n d) of the largest."""
        return self.value_bits or 26 + (self.samples * self.features).bit_length()

    @property
    def change_bits(self):
        """Bits of the change of a sum, with the sign; mirrors change_bits() in the same file."""
        return self.bits + self.samples.bit_length() + 2

    def limbs(self, ranks):
        """64-bit integers that hold a sum."""
        return 1 if self.change_bits <= 64 else -(-self.change_bits // limb_bits(ranks))

    def packs_high_limbs(self, ranks):
        """True if pairs of high limbs share a value; mirrors has_short_high_limbs() in the same file."""
        return self.limbs(ranks) == 2 and self.change_bits - limb_bits(ranks) <= 30

    def sum_values(self, ranks):
        """64-bit integers in a message for all sums."""
        packed = self.cells // 2 if self.packs_high_limbs(ranks) else 0
        return self.limbs(ranks) * self.cells - packed

    def message_values(self, ranks):
        """64-bit integers in the all-reduce of an iteration without observed inertia."""
        return FIELDS + self.clusters + self.sum_values(ranks)

    def message_bytes(self, ranks):
        return VALUE_BYTES * self.message_values(ranks)

    def __str__(self):
        def short(number):
            exponent = len(str(number)) - 1
            return f"1e{exponent}" if number >= 10 ** 5 and number == 10 ** exponent else str(number)
        return ", ".join(short(number) for number in (self.samples, self.features, self.clusters))


@dataclasses.dataclass(frozen=True)
class Machine:
    """Seconds, bytes and operations per second. A link is one direction of a port."""
    local_latency: float  # of a message between two ranks of a host
    local_bandwidth: float  # of a rank's link within its host
    network_latency: float  # of a message between hosts
    network_bandwidth: float  # of a host's network link
    reduce_bandwidth: float  # of a rank that adds received 64-bit integers to its own
    rank_flops: float  # of a rank that computes distances: 2 per sample, feature and cluster
    cell_time: float  # of what every rank does for each cluster and feature, seconds
    iteration_time: float = 0  # of what an iteration does besides, seconds
    ranks_per_host: int = 1
    imbalance: float = 0  # the slowest rank takes 1 + imbalance times the mean

    def host(self, rank):
        return rank // self.ranks_per_host


def compute_seconds(problem, machine, ranks):
    """Mean time of a rank for its rows, if no distance is pruned."""
    return 2 * problem.samples * problem.cells / ranks / machine.rank_flops + machine.iteration_time


def cell_seconds(problem, machine):
    """Time of a rank for the message, the means and the backend's copies of centroids: every rank has all k x d."""
    return problem.cells * machine.cell_time


def rank_bytes(problem, ranks):
    """Memory of the core per rank for k x d, without the samples and without the backend.

    In bytes per cell: the message 8 per limb; sums as two words, and as ClusterSums with up to three limbs, 56;
    float64 centroids: initial, two copies of these, current, former, those of the last pass, the result, 56.
    """
    return (8 * problem.limbs(ranks) + 56 + 56) * problem.cells


def log2_ceil(number):
    return math.ceil(math.log2(number)) if number > 1 else 0
