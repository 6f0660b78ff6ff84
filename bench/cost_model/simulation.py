"""Simulates a message schedule: every message of every rank, with latency, bandwidth and shared links."""

import collections
import dataclasses
import heapq


class DeadlockError(Exception):
    """A rank waits for a message that no rank sends, or a message is never received."""


@dataclasses.dataclass
class Result:
    finished: list  # time at which each rank has finished
    messages: int = 0
    sent_bytes: float = 0
    network_messages: int = 0
    network_bytes: float = 0
    values: list | None = None  # of each rank, if they were given

    @property
    def seconds(self):
        return max(self.finished)


class Simulation:
    """A message occupies the sender's link from its start for bytes / bandwidth, and then the receiver's.

    Within a host, each rank has links of its own. Between hosts, the ranks of a host share one link in each
    direction: messages queue there in the order in which their senders become ready.
    """

    def __init__(self, machine, values=None):
        self.machine = machine
        self.values = values
        self.free = collections.defaultdict(float)  # when a link is next idle
        self.in_flight = collections.defaultdict(collections.deque)  # (from, to): arrival and payload
        self.waiting = {}  # rank: its step and when it was ready to receive

    def run(self, schedule, ranks, start):
        """`schedule(rank)` yields the steps of a rank, which begins at start[rank]."""
        self.result = Result(finished=list(start), values=self.values)
        self.steps = [schedule(rank) for rank in range(ranks)]
        self.events = [(time, rank) for rank, time in enumerate(start)]
        heapq.heapify(self.events)
        while self.events:
            now, rank = heapq.heappop(self.events)
            step = next(self.steps[rank], None)
            if step is None:
                self.result.finished[rank] = now
            else:
                self._begin(rank, step, now)
        if self.waiting:
            raise DeadlockError(f"rank {min(self.waiting)} waits for a message that is never sent")
        if any(self.in_flight.values()):
            raise DeadlockError("a message is never received")
        return self.result

    def _begin(self, rank, step, now):
        sent = self._send(rank, step, now) if step.to >= 0 else now
        if step.source < 0:
            heapq.heappush(self.events, (sent, rank))
            return
        self.waiting[rank] = (step, sent)
        self._receive(rank)

    def _send(self, rank, step, now):
        """Returns when the sender's link is idle again."""
        machine = self.machine
        begin, end = step.sent
        size = (end - begin) * step.bytes_per_value
        host, other = machine.host(rank), machine.host(step.to)
        if host == other:
            outgoing, incoming = ("out", rank), ("in", step.to)
            latency, bandwidth = machine.local_latency, machine.local_bandwidth
        else:
            outgoing, incoming = ("host out", host), ("host in", other)
            latency, bandwidth = machine.network_latency, machine.network_bandwidth
            self.result.network_messages += 1
            self.result.network_bytes += size
        self.result.messages += 1
        self.result.sent_bytes += size
        started = max(now, self.free[outgoing])
        self.free[outgoing] = started + size / bandwidth
        arrived = max(started + latency, self.free[incoming]) + size / bandwidth
        self.free[incoming] = arrived
        payload = None if self.values is None else self.values[rank][begin:end]
        self.in_flight[rank, step.to].append((arrived, payload))
        if step.to in self.waiting:
            self._receive(step.to)
        return self.free[outgoing]

    def _receive(self, rank):
        """Finishes the step of a waiting rank if its message is under way."""
        step, ready = self.waiting[rank]
        messages = self.in_flight[step.source, rank]
        if not messages:
            return
        del self.waiting[rank]
        arrived, payload = messages.popleft()
        done = max(ready, arrived)
        begin, end = step.received
        if step.adds:
            done += (end - begin) * step.bytes_per_value / self.machine.reduce_bandwidth
        if payload is not None:
            own = self.values[rank]
            own[begin:end] = [a + b for a, b in zip(own[begin:end], payload, strict=True)] if step.adds else payload
        heapq.heappush(self.events, (done, rank))
