"""Runs commands with a plugin that performs a hostile action in one of its calls."""

import os
import pathlib
import shutil
import subprocess
import time

from program import BAD_PLUGINS, IRIS, LLOYD, TestCase, process_folders, process_tree, run

# Time limits of the plugin in seconds, tried in order: on a busy machine, loading alone may exceed the first.
LIMITS = (3, 20, 120)


def processes_with(text):
    """Processes with this text in their maps or command line."""
    found = []
    for folder in process_folders():
        try:
            if text in (folder / "maps").read_text() + (folder / "cmdline").read_text():
                found.append(int(folder.name))
        except OSError:
            pass
    return found


def process_with_plugin(command, file):
    """The descendant of `command` that runs the plugin (not the one that describes it), or None."""
    for pid in process_tree(command):
        folder = pathlib.Path(f"/proc/{pid}")
        try:
            if str(file) in (folder / "maps").read_text() and \
                    b"--describe" not in (folder / "cmdline").read_bytes():
                return pid
        except OSError:
            pass  # the process has ended
    return None


class HostileCase(TestCase):
    def setUp(self):
        super().setUp()
        # A copy for this test alone: its path identifies the test's processes.
        self.plugins = self.folder / "plugins"
        self.plugins.mkdir()
        self.file = pathlib.Path(shutil.copy(BAD_PLUGINS / "hostile" / "lloyd_hostile.so", self.plugins))

    def command(self, *arguments, limit=LIMITS[-1]):
        return [LLOYD, "--plugin-dir", str(self.plugins), "--plugin-timeout", str(limit), *map(str, arguments)]

    def environment(self, hostile):
        return {**os.environ, "LLOYD_HOSTILE": hostile}

    def run_hostile(self, hostile, *arguments, limit=LIMITS[-1]):
        """Runs a command to its end; fails if that takes more than 5 minutes."""
        return subprocess.run(self.command(*arguments, limit=limit), env=self.environment(hostile), text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=300, errors="replace")

    def run_within_limits(self, hostile, *arguments):
        """Runs a command whose plugin hangs, with the shortest limit that suffices for loading. Returns the limit too.
        """
        for limit in LIMITS:
            done = self.run_hostile(hostile, *arguments, limit=limit)
            if "did not load" not in done.stderr and "while it was loaded" not in done.stderr:
                return done, limit
        self.fail(done.stderr)

    FIT = ("fit", IRIS, "-k", "3", "--backend", "hostile")

    def model(self):
        model = self.folder / "model.json"
        if not model.exists():
            run("fit", IRIS, "-k", "3", "--backend", "sequential", "--model", model)
        return model

    def start(self, hostile, *arguments, limit=LIMITS[-1], **streams):
        process = subprocess.Popen(self.command(*arguments, limit=limit), env=self.environment(hostile),
                                   stdin=subprocess.DEVNULL, **streams)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_within_limits(self, hostile, *arguments, **streams):
        """Starts a command with the shortest limit that suffices for loading, see wait_for_work(). Returns the limit
        too.
        """
        for limit in LIMITS:
            process = self.start(hostile, *arguments, limit=limit, **streams)
            if self.wait_for_work(process):
                return process, limit
            process.communicate()
        self.fail("the plugin was not loaded")

    def wait_for_work(self, process):
        """Waits until the working process has loaded the plugin and is idle. Returns its id, or None if the command has
        ended.
        """
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and process.poll() is None:
            if (pid := process_with_plugin(process.pid, self.file)) is not None:
                self.wait_until_idle(pid)
                return pid
            time.sleep(0.02)
        self.assertIsNotNone(process.poll(), "nothing has loaded the plugin")
        return None

    def assert_gone(self, text=None):
        """Waits until no process has mapped the plugin or has `text` in its maps or command line."""
        deadline = time.monotonic() + 60
        while processes_with(text or str(self.file)):
            self.assertLess(time.monotonic(), deadline, f"{text or self.file} is still there")
            time.sleep(0.02)
