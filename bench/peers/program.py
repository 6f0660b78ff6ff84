"""The protocol of docs/external_programs.md, for programs in Python.

A program calls `run(describe, Session, packages)`:
- `describe()` returns the description, and raises ImportError where its package is missing;
- `Session(samples, parameters)` makes a data set resident: n x d, row-major, read-only, float32 or
  float64; `fit(fit)` of it runs one fit;
- `packages` are the modules that are imported before the first data set, while no trial runs.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import importlib.util
import json
import os
import sys
import threading
import time

# numpy is imported where it is used, so that a description does not wait for it.

PROTOCOL = 1
# Usable processors, counted before a library binds the main thread to one of them.
PROCESSORS = len(os.sched_getaffinity(0))


@dataclasses.dataclass
class Fit:
    """A request of a fit, and the means to answer it."""

    clusters: int
    centroids: numpy.ndarray  # k x d, float64: the initial ones
    max_iterations: int
    fixed_iterations: bool  # exactly so many, whatever happens
    tolerance: float  # the fit stops when squared shifts add up to no more; 0: never
    empty_clusters: str  # relocate, keep, error


@dataclasses.dataclass
class Answer:
    """The result of a fit. Labels belong to the returned centroids. Times are in milliseconds."""

    centroids: numpy.ndarray  # k x d
    labels: numpy.ndarray  # n
    iterations: int
    loop_ms: float  # the iterations, however the program's authors time them
    closing_ms: float = 0  # assignments that were needed for labels and are no iterations
    converged: bool = False  # stopped by labels or shift before max_iterations
    notes: str = ""
    # All n x k distances are evaluated in each iteration and for the labels. If not, the number is unknown.
    evaluates_all: bool = False


def _processor(thread):
    """The processor on which a thread of this process runs, or ran last."""
    with open(f"/proc/self/task/{thread}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[36])


def _leave_other_threads():
    """Moves to a processor without another thread of this process: two threads on one processor share it
    until the kernel separates them, on some virtual machines for a whole fit."""
    try:
        own = threading.get_native_id()
        taken = {_processor(thread) for thread in os.listdir("/proc/self/task") if int(thread) != own}
        allowed = os.sched_getaffinity(0)
        free = allowed - taken
        if _processor(own) in taken and free:
            os.sched_setaffinity(0, {min(free)})
            os.sched_setaffinity(0, allowed)
    except OSError:
        pass  # a thread has just ended, or the system refuses


class Timer:
    """Wall time of a block."""

    def __enter__(self):
        _leave_other_threads()
        self.start = time.perf_counter()
        return self

    def __exit__(self, *_):
        self.ms = (time.perf_counter() - self.start) * 1e3


def in_best_environment(**variables):
    """Starts this program again with environment variables that its libraries read when they are
    loaded; None removes one. Does nothing for a description, which does not depend on them."""
    wanted = {name: value for name, value in variables.items() if os.environ.get(name) != value}
    if not wanted or "LLOYD_PEER_ENVIRONMENT" in os.environ or sys.argv[1:] == ["describe"]:
        return
    environment = {**os.environ, "LLOYD_PEER_ENVIRONMENT": "set"}
    for name, value in wanted.items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)


def version_of(package, module):
    """Returns the version of an installed package. Does not import its module, which may take seconds:
    every run asks for a description twice. Raises ImportError if the module is missing."""
    if importlib.util.find_spec(module) is None:
        raise ImportError(f"No module named '{module}'")
    return importlib.metadata.version(package)


def integer(name, default, minimum, maximum, meaning):
    return {"name": name, "type": "integer", "default": default, "minimum": minimum,
            "maximum": maximum, "meaning": meaning}


def choice(name, choices, meaning):
    return {"name": name, "type": "choice", "choices": choices, "meaning": meaning}


def threads_parameter():
    return integer("threads", 0, 0, 1024, "threads; 0: all processors that the process may use")


def thread_count(parameters):
    return parameters["threads"] or PROCESSORS


def _serve(open_session, packages, requests, answers):
    import numpy

    session = None
    for line in requests:
        request = json.loads(line)
        try:
            if request["request"] == "prepare":
                for package in packages:
                    importlib.import_module(package)
                answer = {}
            elif request["request"] == "open":
                session = None  # the former data set is freed first
                samples = numpy.load(request["samples"], mmap_mode="r")
                with Timer() as timer:
                    session = open_session(samples, request["parameters"])
                answer = {"open_ms": timer.ms}
            elif request["request"] == "fit":
                answer = _fit(session, request)
            elif request["request"] == "close":
                session = None
                answer = {}
            else:
                answer = {"error": f"unknown request '{request['request']}'"}
        except MemoryError as error:
            answer = {"error": str(error) or "out of memory", "out_of_memory": True}
        except Exception as error:  # whatever a package throws is this fit's failure alone
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


def _fit(session, request):
    import numpy

    fit = Fit(clusters=request["clusters"], centroids=numpy.load(request["centroids"]),
              max_iterations=request["max_iterations"],
              fixed_iterations=request["fixed_iterations"], tolerance=request["tolerance"],
              empty_clusters=request["empty_clusters"])
    answer = session.fit(fit)
    numpy.save(request["final_centroids"], numpy.ascontiguousarray(answer.centroids, numpy.float64))
    numpy.save(request["labels"], numpy.ascontiguousarray(answer.labels, numpy.float64))
    return {"iterations": int(answer.iterations), "loop_ms": float(answer.loop_ms),
            "closing_ms": float(answer.closing_ms), "converged": bool(answer.converged),
            "notes": answer.notes, "distances": _distances(fit, answer)}


def _distances(fit, answer):
    if not answer.evaluates_all:
        return None
    return len(answer.labels) * fit.clusters * (int(answer.iterations) + 1)


def run(describe, open_session, packages=()):
    """Describes, or serves standard input until it ends."""
    # Output of libraries must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if sys.argv[1:] == ["describe"]:
        description = {"protocol": PROTOCOL, "name": "", "version": "", "summary": ""}
        try:
            if importlib.util.find_spec("numpy") is None:
                raise ImportError("No module named 'numpy'")
            description |= describe() | {"prepare": bool(packages)}
        except ImportError as error:
            module = sys.modules["__main__"]
            description |= {"name": module.NAME, "summary": module.__doc__.splitlines()[0],
                            "unavailable": f"{sys.executable or 'Python'} lacks a package: {error}"}
        print(json.dumps(description), file=answers, flush=True)
    elif sys.argv[1:] == ["serve"]:
        _serve(open_session, packages, sys.stdin, answers)
    else:
        print(f"usage: {sys.argv[0]} describe | serve", file=sys.stderr)
        sys.exit(2)
