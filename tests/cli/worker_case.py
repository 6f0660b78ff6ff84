"""Runs experiments whose trials have separate processes, and checks that nothing is left behind."""

import json
import os
import pathlib
import re
import resource
import subprocess
import time

from program import BAD_PLUGINS, LLOYD, TestCase, process_folders, process_table


def processes_of(parent):
    """The processes that a run has started for trials, including those forked by plugins."""
    found = []
    for folder in process_folders():
        try:
            if f"worker\0--parent\0{parent}\0" in (folder / "cmdline").read_text(errors="replace"):
                found.append(int(folder.name))
        except OSError:
            pass
    return found


def shared_memory():
    """The names in /dev/shm; empty if the machine has none."""
    return set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()


def workers_of(parent):
    """The processes of a run that have loaded a plugin, hence no supervisors."""
    found = []
    for pid in processes_of(parent):
        try:
            if re.search(r"/lloyd_[^/]*\.so\n", pathlib.Path(f"/proc/{pid}/maps").read_text()):
                found.append(pid)
        except OSError:
            pass
    return found


def worker_with(parent, plugin):
    """The descendant of `parent` that runs trials with the plugin (not the one that described it), or None."""
    for pid in processes_of(parent):
        folder = pathlib.Path(f"/proc/{pid}")
        try:
            if f"lloyd_{plugin}.so" in (folder / "maps").read_text() and \
                    b"--describe" not in (folder / "cmdline").read_bytes():
                return pid
        except OSError:
            pass
    return None


def is_zombie(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] == "Z"


class WorkerCase(TestCase):
    """Each test has a folder for temporary files. At its end, that folder, the list of processes and shared memory must
    be empty. The experiment `config` has `good` as its last backend.
    """

    def setUp(self):
        super().setUp()
        self.output = self.folder / "out"
        self.temporary = self.folder / "temporary"
        self.temporary.mkdir()
        self.addCleanup(self.expect_nothing_left)
        self.before = shared_memory()
        self.started = []

    def expect_nothing_left(self):
        for pid in self.started:
            deadline = time.monotonic() + 30
            while processes_of(pid) and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual(processes_of(pid), [])
        self.assertEqual(os.listdir(self.temporary), [])
        new = shared_memory() - self.before
        self.assertEqual([name for name in new if "lloyd" in name], [])
        if self.output.exists():
            self.assertLessEqual(set(os.listdir(self.output)), {"records.jsonl", "summary.csv"})

    def start(self, bad=(), keys="", config=None, plugins=(), descriptors=None, options=(), arguments=()):
        """Starts the experiment with the backends `bad` appended, and further keys. `plugins` replace PLUGINS in it;
        `descriptors` is the limit of open files; `options` precede `run`, `arguments` follow it.
        """
        text = (config or self.config).replace("PLUGINS", ", ".join(plugins))
        if bad:
            text = text.replace("good]", f"good, {', '.join(bad)}]")
        file = self.write("config.yaml", f"{text}\n{keys}\n")
        folders = [argument for name in ("good", *bad, *plugins)
                   for argument in ("--plugin-dir", str(BAD_PLUGINS / name))]

        def lower_limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        process = subprocess.Popen(
            [LLOYD, *folders, *map(str, options), "run", str(file), "--output", str(self.output), *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": str(self.temporary)},
            preexec_fn=lower_limit if descriptors else None)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.started.append(process.pid)
        return process

    def records(self):
        file = self.output / "records.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []  # created with the first record
        return [json.loads(line) for line in lines]

    def wait_for(self, what, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = what()
            if found:
                return found
            time.sleep(0.01)
        self.fail("it did not come")

    def run_to_end(self, process):
        """Output and messages of the run. Fails if a child stays a zombie longer than a busy machine needs to wake its
        parent.
        """
        zombies = {}
        while True:
            try:
                out, err = process.communicate(timeout=0.4)
                return out, err
            except subprocess.TimeoutExpired:
                now = {pid for pid, entry in process_table().items() if entry == (process.pid, "Z")}
                zombies = {pid: zombies.get(pid, time.monotonic()) for pid in now}
                self.assertEqual([pid for pid, since in zombies.items() if time.monotonic() - since > 3], [])
