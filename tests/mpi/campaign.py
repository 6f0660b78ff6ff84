"""Disturbs fits that mpirun started, and runs many short ones.

    LLOYD=build/release/bin/lloyd LLOYD_MPIEXEC=mpiexec python3 -B tests/mpi/campaign.py [--seed N] ...

Faults: SIGKILL at random moments for each rank in turn, SIGSTOP, a file that is missing or differs on one rank, a full
disk for checkpoints or labels. After each, all processes must have ended within the time limit, with one sentence that
names rank and host (and, for a rank that died or hangs, the phase), and the checkpoint must be complete: fits on more
and on fewer ranks that resume it must have the bits of an undisturbed fit.

Short fits: each must end with the bits of one process.

A fault depends only on the seed, the number of ranks and its moment; `--moment` repeats one of them. The random delay of
a signal is a share of the time that the undisturbed fit took, so a repetition is close, not identical.
"""

import argparse
import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from mpi import ENVIRONMENT, MPIEXEC, mpirun_command, rank_of
from program import LLOYD, process_table, run

MARKER = "LLOYD_CAMPAIGN"  # an environment variable of all processes of a job
HOST = socket.gethostname()
TIMEOUT = 2  # --comm-timeout of the fits, seconds
# Time for replies to the question whether a rank is alive (3 s), for the launcher to end the ranks (Open MPI: 1 s), and
# for a busy machine.
GRACE = 12
ORPHAN_GRACE = 3  # seconds in which processes may end after mpirun
RESULTS = ("labels.npy", "centroids.npy", "model.json")
NOTES = ("lloyd: warning: ", "lloyd: the fit reached the limit of ")
PHASE = (r", (at the start|while reading the data|before the first iteration of this run|after iteration \d+ of restart \d+|"
         r"while writing the results)")


class Violation(Exception):
    """A promise of the documentation that a run broke."""


@dataclasses.dataclass
class Job:
    """A job of mpirun that has ended."""

    status: int
    seconds: float  # from the disturbance, or from the start if there was none
    output: str
    errors: str

    def sentences(self):
        lines = [line for line in self.errors.splitlines() if line.startswith("lloyd: ")]
        return [line for line in lines if not line.startswith(NOTES)]


def marked_processes(mark):
    """The processes of a job, also those whose parents have ended; zombies do not count."""
    entry = f"{MARKER}={mark}".encode()
    found = []
    for pid, (_, state) in process_table().items():
        with contextlib.suppress(OSError):
            if state != "Z" and entry in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.append(pid)
    return found


def signal_processes(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class Launched:
    """A running job."""

    jobs = 0

    def __init__(self, command, folder):
        Launched.jobs += 1
        self.mark = f"{os.getpid()}-{Launched.jobs}"
        self.output, self.errors = folder / "stdout.txt", folder / "stderr.txt"
        with self.output.open("wb") as output, self.errors.open("wb") as errors:
            self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                                            env={**ENVIRONMENT, MARKER: self.mark}, start_new_session=True)
        self.begin = time.monotonic()

    def processes_of(self, rank):
        """The processes of a rank that exist, in the order of descent: the one that mpirun started, the supervisor, and
        the one that works."""
        table = process_table()
        own = [pid for pid in marked_processes(self.mark) if rank_of(pid) == str(rank)]
        chain = [pid for pid in own if table.get(pid, (0, ""))[0] not in own][:1]
        while chain and len(chain) < 3:
            children = [pid for pid in own if table.get(pid, (0, ""))[0] == chain[-1]]
            if not children:
                break
            chain.append(max(children))
        return chain

    def wait(self, limit):
        """Waits for the end of all processes; raises Violation if one is left."""
        try:
            status = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            raise Violation(f"the job did not end within {limit} s: {self.end()}") from None
        seconds = time.monotonic() - self.begin
        deadline = time.monotonic() + ORPHAN_GRACE
        while marked_processes(self.mark):
            if time.monotonic() > deadline:
                raise Violation(f"processes are left: {self.end()}")
            time.sleep(0.02)
        return Job(status, seconds, *(file.read_text(errors="replace") for file in (self.output, self.errors)))

    def end(self):
        """Kills what is left; returns its command lines."""
        texts = []
        left = marked_processes(self.mark)
        for pid in left:
            with contextlib.suppress(OSError):
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
                texts.append(f"{pid} ({process_table().get(pid, (0, '?'))[1]}) {' '.join(words[:2])}")
        signal_processes(left, signal.SIGKILL)
        self.process.wait(60)
        return "; ".join(texts)


class Campaign:
    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = folder
        self.rows = collections.defaultdict(lambda: {"runs": 0, "violations": 0, "seconds": 0.0, "resumed": 0})
        self.data = folder / "data.npy"
        self.whole = {}  # undisturbed fits: folder and seconds, by ranks and options
        self.make("data.npy", 60000, 7)
        self.make("short.npy", 1001, 5)
        self.make("longer.npy", 60001, 7)
        changed = bytearray(self.data.read_bytes())
        changed[-4:] = b"\x00\x00\x00\x41"
        (folder / "changed.npy").write_bytes(changed)

    def make(self, name, samples, seed):
        run("data", "blobs", self.folder / name, "--samples", samples, "--features", 6, "--centers", 40, "--std", 3, "--seed", seed)

    def launch(self, ranks, command, limit=120):
        return Launched(mpirun_command(ranks, command) if ranks > 0 else command, self.folder).wait(limit)

    def fit(self, output, options, data=None):
        return [LLOYD, "fit", data or self.data, "-o", output, "--format", "npy", "--comm-timeout", TIMEOUT, *options]

    def checkpointed(self, output, options, *more, data=None):
        return self.fit(output, [*options, "--checkpoint", self.checkpoint, *more], data)

    @property
    def checkpoint(self):
        return self.folder / "checkpoint"

    def undisturbed(self, ranks, options):
        """The folder of the results of one process, and how long the fit takes on `ranks` ranks."""
        key = tuple(map(str, options))
        if (0, key) not in self.whole:
            output = self.folder / f"whole-{len(self.whole)}"
            self.require_done(self.launch(0, self.fit(output, options)))
            self.whole[0, key] = output
        if (ranks, key) not in self.whole:
            self.clear()
            job = self.launch(ranks, self.checkpointed(self.folder / "out", options, "--checkpoint-every", 2))
            self.require_done(job)
            self.require_results(self.folder / "out", self.whole[0, key])
            self.whole[ranks, key] = job.seconds
        return self.whole[0, key], self.whole[ranks, key]

    def clear(self):
        for name in ("out", "checkpoint"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    @staticmethod
    def require_done(job):
        if job.status != 0:
            raise Violation(f"a fit without a fault ended with status {job.status}: {job.errors}")

    @staticmethod
    def require_results(output, expected, names=RESULTS):
        for name in names:
            if not (output / name).exists():
                raise Violation(f"{name} is missing")
            if (output / name).read_bytes() != (expected / name).read_bytes():
                raise Violation(f"{name} has other bits than that of one process")

    def require_checkpoint(self):
        """The folder holds nothing, or a checkpoint all of whose files are there."""
        file = self.checkpoint / "checkpoint.json"
        if not file.exists():
            return
        try:
            state = json.loads(file.read_text())
            named = [state["centroids"], (state["best"] or {}).get("centroids")]
            for array in filter(None, named):
                if (self.checkpoint / array["file"]).stat().st_size < 6 * 8 * int(state["fit"]["clusters"]):
                    raise Violation(f"{array['file']} is incomplete")
        except (ValueError, KeyError, OSError) as error:
            raise Violation(f"the checkpoint is damaged: {error!r}") from None

    def require_resumed(self, ranks, options, expected):
        """Resumes the checkpoint on more and on fewer ranks, each from the same state."""
        state = self.folder / "state"
        shutil.rmtree(state, ignore_errors=True)
        self.checkpoint.mkdir(exist_ok=True)  # the fit may have ended before it made one
        shutil.copytree(self.checkpoint, state)
        for number in (ranks + 1, ranks // 2 if ranks > 2 else 0):
            self.clear()
            shutil.copytree(state, self.checkpoint)
            job = self.launch(number, self.checkpointed(self.folder / "out", options, "--resume"))
            if job.status != 0:
                raise Violation(f"on {number or 'no'} ranks the checkpoint is not resumed: {job.errors}")
            self.require_results(self.folder / "out", expected)

    def case(self, kind, name, body):
        """Runs one case; counts and prints its violation."""
        row = self.rows[kind]
        row["runs"] += 1
        self.clear()
        try:
            job = body()
            row["seconds"] = max(row["seconds"], job.seconds)
        except Violation as violation:
            row["violations"] += 1
            print(f"--seed {self.arguments.seed}: {name}: {violation}", flush=True)

    # Faults.

    @staticmethod
    def options(draw):
        return ["-k", 40, "--tolerance", 0, "--max-iterations", 40, "--param", "threads=1", "--seed", draw.randrange(3),
                "--seeding", draw.choice(["k-means++", "k-means||", "random"]), "--restarts", draw.choice([1, 2])]

    def draw(self, *key):
        return random.Random(" ".join(map(str, (self.arguments.seed, *key))))

    def kill(self, ranks, moment):
        draw = self.draw("kill", ranks, moment)
        options = self.options(draw)
        rank = moment % ranks
        level = draw.choice([0, 1, 2, 2, 2])
        expected, whole = self.undisturbed(ranks, options)
        delay = draw.random() * whole
        # Mostly the working process: it has most of the memory, so the OOM killer would choose it, too.
        victim = ("launched process", "supervisor", "working process")[level]

        def disturbed(delay):
            self.clear()
            launched = Launched(mpirun_command(ranks, self.checkpointed(
                self.folder / "out", options, "--checkpoint-every", 2)), self.folder)
            chain = self.wait_for_ranks(launched, ranks, delay, rank)
            at = min(level, len(chain) - 1)
            if chain:
                signal_processes([chain[at]], signal.SIGKILL)
                launched.begin = time.monotonic()
            return launched.wait(TIMEOUT + GRACE), at

        def body():
            job, at = disturbed(delay)
            if job.status == 0:  # it had ended already, or was about to
                self.require_results(self.folder / "out", expected)
                job, at = disturbed(delay / 2)
            if job.status == 0:
                raise Violation("the fit ended before the signal, also with half the delay")
            self.require_sentence(job, rank, launched_process=at == 0)
            self.require_complete_files(expected)
            self.require_checkpoint()
            self.require_resumed(ranks, options, expected)
            self.rows[f"kill, {ranks} ranks"]["resumed"] += 2
            return job
        self.case(f"kill, {ranks} ranks", f"ranks {ranks}, moment {moment} (SIGKILL of the {victim} of rank {rank} after "
                  f"{delay:.3f} s)", body)

    @staticmethod
    def wait_for_ranks(launched, ranks, delay, rank):
        """Waits until `delay` has passed and all ranks have a process, or the job has ended. Returns those of `rank`.

        mpiexec of Open MPI 4.1 hung once, with no process of a rank left, when one was killed before it had started all.
        """
        while launched.process.poll() is None:
            left = launched.begin + delay - time.monotonic()
            if left > 0:
                time.sleep(min(left, 0.02))
            elif all(launched.processes_of(other) for other in range(ranks)):
                return launched.processes_of(rank)
        return []

    def stop(self, ranks, whole_rank):
        rank = self.draw("stop", ranks, whole_rank).randrange(ranks)

        def body():
            endless = ["-k", 40, "--iterations", 10**6, "--param", "threads=1", "--checkpoint-every", 2]
            launched = Launched(mpirun_command(ranks, self.checkpointed(self.folder / "out", endless)), self.folder)
            chain = []
            while launched.process.poll() is None and not (
                    len(chain) == 3 and (self.checkpoint / "checkpoint.json").exists()):
                if time.monotonic() > launched.begin + 120:
                    raise Violation(f"the fit wrote no checkpoint within 120 s: {launched.end()}")
                time.sleep(0.02)
                chain = launched.processes_of(rank)
            signal_processes(chain if whole_rank else chain[2:], signal.SIGSTOP)
            launched.begin = time.monotonic()
            job = launched.wait(TIMEOUT + GRACE)
            if job.status == 0:
                raise Violation("the status is 0")
            self.require_sentence(job, rank)
            self.require_checkpoint()
            return job
        stopped = "all processes" if whole_rank else "the working process"
        self.case("stop", f"ranks {ranks}, SIGSTOP of {stopped} of rank {rank}", body)

    def require_sentence(self, job, rank, launched_process=False):
        """One sentence of Lloyd. If mpirun's own child was killed, only mpirun knows."""
        sentences = job.sentences()
        if launched_process:
            if sentences:
                raise Violation(f"{len(sentences)} sentences instead of that of the launcher: {job.errors}")
            if not job.output + job.errors:  # that of MPICH prints it to standard output
                raise Violation("the launcher prints no message")
            return
        if len(sentences) != 1:
            raise Violation(f"{len(sentences)} sentences instead of one: {job.errors}")
        if not re.search(rf"\brank {rank} on {re.escape(HOST)}\b", sentences[0]) or not re.search(PHASE, sentences[0]):
            raise Violation(f"the sentence does not name rank {rank}, {HOST} and the phase: {sentences[0]}")

    def require_complete_files(self, expected):
        """No file of a failed fit has other content than that of a finished one."""
        there = [name for name in RESULTS if (self.folder / "out" / name).exists()]
        written = [name for name in there if (self.folder / "out" / name).stat().st_size]
        self.require_results(self.folder / "out", expected, written)

    def other_file(self, ranks, name, message):
        """The last rank is given another file."""
        def body():
            command = self.fit(self.folder / "out", ["-k", 3])
            last = self.fit(self.folder / "out", ["-k", 3], self.folder / name)
            job = Launched([MPIEXEC, "-n", ranks - 1, *command, ":", "-n", 1, *last], self.folder).wait(TIMEOUT + GRACE)
            sentences = job.sentences()
            if job.status == 0 or len(sentences) != 1 or message not in sentences[0] \
                    or f"rank {ranks - 1} on {HOST}" not in sentences[0]:
                raise Violation(f"status {job.status}: {job.errors}")
            return job
        self.case("other file", f"ranks {ranks}, {name} on the last rank", body)

    def full_disk(self, ranks):
        """Files may have 4 KiB: the labels of the last rank, then the checkpoints of rank 0, are larger."""
        def options(iterations):
            return ["-k", 200, "--tolerance", 0, "--max-iterations", iterations, "--param", "threads=1"]
        fixed = ["-k", 200, "--iterations", 6, "--param", "threads=1"]
        expected, _ = self.undisturbed(ranks, options(6))
        expected_fixed, _ = self.undisturbed(ranks, fixed)
        limited = ["bash", "-c", 'ulimit -S -f 4; exec "$0" "$@"']

        def labels():
            command = self.checkpointed(self.folder / "out", fixed, "--checkpoint-every", 2)
            job = Launched([MPIEXEC, "-n", ranks - 1, *command, ":", "-n", 1, *limited, *command], self.folder).wait(120)
            sentences = job.sentences()
            if job.status == 0 or len(sentences) != 1 or f"rank {ranks - 1} on {HOST}" not in sentences[0] \
                    or "labels.npy cannot be written" not in sentences[0]:
                raise Violation(f"status {job.status}: {job.errors}")
            self.require_results(self.folder / "out", expected_fixed, RESULTS[1:])
            if (self.folder / "out" / "labels.npy").exists():
                raise Violation("labels.npy exists")
            if not (self.checkpoint / "checkpoint.json").exists():
                raise Violation("the checkpoint was removed, although the labels were not written")
            self.require_resumed(ranks, fixed, expected_fixed)
            self.rows["full disk"]["resumed"] += 2
            return job
        self.case("full disk", f"ranks {ranks}, labels", labels)

        def checkpoints():
            self.require_done(self.launch(ranks, self.checkpointed(self.folder / "out", options(3))))
            before = (self.checkpoint / "checkpoint.json").read_bytes()
            # Without results, which would not fit either.
            command = [LLOYD, "fit", self.data, *options(5), "--checkpoint", self.checkpoint, "--checkpoint-every", 1, "--resume"]
            job = self.launch(ranks, [*limited, *command])
            self.require_done(job)
            if job.errors.count("a checkpoint cannot be written; the fit continues without it") != 1:
                raise Violation(f"no warning: {job.errors}")
            if (self.checkpoint / "checkpoint.json").read_bytes() != before:
                raise Violation("the checkpoint has changed")
            self.require_checkpoint()
            self.require_resumed(ranks, options(6), expected)
            self.rows["full disk"]["resumed"] += 2
            return job
        self.case("full disk", f"ranks {ranks}, checkpoints", checkpoints)

    def faults(self, ranks):
        only = self.arguments.moment
        for moment in range(self.arguments.moments) if only is None else [only]:
            self.kill(ranks, moment)
        if only is not None:
            return
        for whole_rank in (False, True):
            self.stop(ranks, whole_rank)
        self.other_file(ranks, "none.npy", "none.npy")
        self.other_file(ranks, "longer.npy", "has 60000 samples on rank 0, but 60001 on")
        self.other_file(ranks, "changed.npy", "has other values on")
        self.full_disk(ranks)

    # Short fits.

    def short_fits(self, ranks):
        expected = {}
        seedings = ["k-means++", "k-means||", "random"]
        for number in range(self.arguments.fits):
            options = ["-k", 7, "--param", "threads=1", "--seeding", seedings[number % 3], "--seed", number % 4]
            key = number % 12

            def body():
                if key not in expected:
                    folder = self.folder / f"short-{key}"
                    self.require_done(self.launch(0, self.fit(folder, options, self.folder / "short.npy")))
                    expected[key] = folder
                job = self.launch(ranks, self.fit(self.folder / "out", options, self.folder / "short.npy"))
                self.require_done(job)
                self.require_results(self.folder / "out", expected[key])
                return job
            self.case(f"short fits, {ranks} ranks", f"short fit {number} on {ranks} ranks", body)
            if number % 100 == 99:
                print(f"{number + 1} short fits", flush=True)

    def report(self):
        print(f"{'case':24}{'runs':>6}{'max s':>8}{'resumed':>9}{'violations':>12}")
        for kind, row in self.rows.items():
            print(f"{kind:24}{row['runs']:6}{row['seconds']:8.2f}{row['resumed']:9}{row['violations']:12}")
        return sum(row["violations"] for row in self.rows.values())


def count(text):
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="of the moments and options of the faults")
    parser.add_argument("--ranks", type=int, nargs="*", default=[2, 4], help="numbers of ranks for the faults, each above 1")
    parser.add_argument("--moments", type=count, default=20, help="random moments of SIGKILL for each number of ranks")
    parser.add_argument("--moment", type=count, help="repeat this moment alone")
    parser.add_argument("--fits", type=count, default=1000, help="number of short fits, on the largest number of ranks")
    arguments = parser.parse_args()
    if not MPIEXEC:
        parser.error("LLOYD_MPIEXEC is not set; it names the launcher, such as mpiexec")
    if any(ranks < 2 for ranks in arguments.ranks):
        parser.error("--ranks takes numbers above 1")
    return arguments


def main():
    arguments = read_arguments()
    with tempfile.TemporaryDirectory(prefix="lloyd-campaign-") as folder:
        campaign = Campaign(arguments, pathlib.Path(folder))
        try:
            for ranks in arguments.ranks:
                campaign.faults(ranks)
        except Violation as violation:
            print(f"--seed {arguments.seed}: a fit without a fault, so the campaign ends: {violation}")
            return 1
        if arguments.fits and arguments.moment is None:
            campaign.short_fits(max(arguments.ranks, default=4))
        return 1 if campaign.report() else 0


if __name__ == "__main__":
    sys.exit(main())
