"""Runs the program under test, whose path is in the environment variable LLOYD."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

# Undoes settings of the caller's shell that would affect the tests: ignored (nohup, a script's `&`) or blocked signals,
# further plugins, devices, bound threads, a launcher of several processes, build flags, the language of messages. The
# locale itself stays.
for ignorable in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(ignorable) == signal.SIG_IGN:
        signal.signal(ignorable, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, [])
for variable in ("LLOYD_PLUGIN_PATH", "CUDA_VISIBLE_DEVICES", "OMP_PROC_BIND", "OMP_PLACES", "OMP_DYNAMIC",
                 "OMP_THREAD_LIMIT", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "CXXFLAGS", "LDFLAGS", "DESTDIR", "COLUMNS",
                 "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", "CMAKE_GENERATOR", "CMAKE_BUILD_TYPE"):
    os.environ.pop(variable, None)
os.environ["LANGUAGE"] = "en"

LLOYD = os.environ["LLOYD"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
BAD_PLUGINS = pathlib.Path(LLOYD).parents[1] / "bad_plugins"  # one folder per plugin
IRIS = ROOT / "configs" / "data" / "iris.csv"
# One trial, which takes almost no time.
SMALL_EXPERIMENT = """
dataset: {blobs: {samples: 50}}
clusters: 2
backends: [sequential]
stop: {iterations: 3}
repeats: 1
"""
# Builds with sanitizers are not subject to limits of time or memory.
SANITIZED = bool(os.environ.get("LLOYD_SANITIZE"))
# UndefinedBehaviorSanitizer checks addresses by means of a pipe of its own.
leaves_no_descriptor = unittest.skipIf(SANITIZED, "a sanitizer needs descriptors of its own")
needs_html_report = unittest.skipUnless(os.environ.get("LLOYD_HTML_REPORT", "1") == "1",
                                        "this build has no HTML report: D3 was not found")


def run(*arguments, status=0, cwd=None, env=None):
    """Runs lloyd; fails unless it ends with `status`."""
    done = subprocess.run([LLOYD, *map(str, arguments)], capture_output=True, text=True, cwd=cwd,
                          env={**os.environ, **(env or {})}, timeout=300, stdin=subprocess.DEVNULL)
    if done.returncode != status:
        raise AssertionError(
            f"lloyd {' '.join(map(str, arguments))}: expected status {status}, got "
            f"{done.returncode}\nstdout: {done.stdout}\nstderr: {done.stderr}")
    return done


def run_json(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def process_folders():
    """The folders of all processes in /proc. A process may end at any time: reading its files may raise OSError."""
    return [pathlib.Path("/proc", name) for name in os.listdir("/proc") if name.isdigit()]


def process_table():
    """Parent and state of each process; the state "Z" is a zombie. (Not every kernel lists children.)"""
    found = {}
    for folder in process_folders():
        try:
            state, parent = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
        except OSError:
            continue
        found[int(folder.name)] = int(parent), state
    return found


def process_tree(pid):
    """A process and its descendants: a command that loads a plugin works in a child."""
    table = process_table()
    tree = [pid]
    for ancestor in tree:
        tree += [child for child, (parent, _) in table.items() if parent == ancestor]
    return tree


def is_gone(pid):
    """True if a process has ended. Unreaped processes, as in many containers, stay as zombies."""
    return process_table().get(pid, (0, "Z"))[1] == "Z"


class TestCase(unittest.TestCase):
    """Gives each test its own folder."""

    SPACE = 0  # size of its files in bytes, if large

    def setUp(self):
        # The program's folder is the fallback if the folder for temporary files is too small.
        places = [tempfile.gettempdir(), pathlib.Path(LLOYD).parents[1]]
        place = next((place for place in places if shutil.disk_usage(place).free > self.SPACE
                      and os.access(place, os.W_OK)), None)
        if place is None:
            self.skipTest(f"neither {places[0]} nor {places[1]} has {self.SPACE / 1e6:.0f} MB for its files")
        folder = tempfile.TemporaryDirectory(prefix="lloyd-test-", dir=place)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def wait_until_idle(self, *pids):
        """Waits until these processes sleep in ten consecutive samples: they have finished their current work, however
        busy the machine is.
        """
        deadline = time.monotonic() + 60
        looks = 0
        while looks < 10:
            self.assertLess(time.monotonic(), deadline, "they do not come to rest")
            table = process_table()
            looks = looks + 1 if all(table.get(pid, (0, "S"))[1] == "S" for pid in pids) else 0
            time.sleep(0.05)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path
