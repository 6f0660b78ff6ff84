"""Runs the program under test. Its path is in the environment variable LLOYD."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

LLOYD = os.environ["LLOYD"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
BAD_PLUGINS = pathlib.Path(LLOYD).parents[1] / "bad_plugins"  # a folder for each
IRIS = ROOT / "configs" / "data" / "iris.csv"
# A sanitizer's build cannot be held to limits of time or memory.
SANITIZED = bool(os.environ.get("LLOYD_SANITIZE"))
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


class TestCase(unittest.TestCase):
    """With a folder of its own for each test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lloyd-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path
