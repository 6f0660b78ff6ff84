"""Build requirements: the packages that apps/setup.sh installs, and a machine without D3."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ROOT, TestCase

# Replaces dpkg-query, apt-get and apt-cache: nothing is installed, apt knows the packages in KNOWN, and each call is
# appended to $LOG.
APT = r"""#!/bin/bash
name=${0##*/}
echo "$name $*" >> "$LOG"
case $name in
  dpkg-query) exit 1 ;;
  apt-cache) [[ " $KNOWN " == *" ${@: -1} "* ]] ;;
  id) echo "${USER_ID:-0}" ;;
  apt-get) [ "$1" != "$FAILING" ] ;;
esac
"""
NEEDED = ["bash", "env", "cat", "rm", "mktemp", "grep"]


class Packages(TestCase):
    def setUp(self):
        super().setUp()
        self.programs = self.folder / "programs"
        self.programs.mkdir()
        for name in ("dpkg-query", "apt-get", "apt-cache", "id"):
            (self.programs / name).write_text(APT)
            (self.programs / name).chmod(0o755)
        for name in NEEDED:  # without sudo
            found = subprocess.run(["bash", "-c", f"type -P {name}"], capture_output=True, text=True, check=True)
            os.symlink(found.stdout.strip(), self.programs / name)

    def install(self, *packages, status=0, **environment):
        """The output of install_packages, and its calls of apt-get install."""
        log = self.folder / "log"
        log.write_text("")
        script = f"set -euo pipefail; source '{ROOT}/apps/setup.sh'; install_packages {' '.join(packages)}"
        done = subprocess.run([str(self.programs / "bash"), "-c", script], capture_output=True, text=True,
                              env={"PATH": str(self.programs), "LOG": str(log), "KNOWN": "", "FAILING": "",
                                   **environment})
        self.assertEqual(done.returncode, status, done.stderr)
        installs = [line for line in log.read_text().splitlines() if line.startswith("apt-get install")]
        return done.stdout + done.stderr, installs

    def test_d3_is_installed_where_apt_has_it(self):
        said, installs = self.install("g++", "node-d3", KNOWN="g++ node-d3")
        self.assertEqual(said, "installing g++ node-d3\n")
        self.assertEqual(len(installs), 1)
        self.assertTrue(installs[0].endswith(" g++ node-d3"), installs)

    def test_setup_continues_without_d3_where_apt_lacks_it(self):
        said, installs = self.install("g++", "node-d3", KNOWN="g++")
        self.assertEqual(said, "continuing without node-d3: apt has no such package\ninstalling g++\n")
        self.assertTrue(installs[0].endswith(" g++"), installs)
        said, installs = self.install("node-d3")
        self.assertEqual(said, "continuing without node-d3: apt has no such package\n")
        self.assertEqual(installs, [])

    def test_setup_continues_without_d3_where_it_cannot_install(self):
        said, _ = self.install("node-d3", USER_ID="1000")
        self.assertEqual(said, "continuing without node-d3: installing it needs root or sudo\n")
        said, _ = self.install("node-d3", FAILING="update")
        self.assertEqual(said, "continuing without node-d3: 'apt-get update' failed\n")
        said, _ = self.install("g++", "node-d3", USER_ID="1000", status=2)
        self.assertIn("these packages are missing, and installing them needs root or sudo: g++\n", said)
        self.install("g++", "node-d3", FAILING="update", status=2)


class WithoutD3(TestCase):
    def test_the_report_is_left_out_with_one_line(self):
        done = subprocess.run(
            ["cmake", "-S", ROOT, "-B", self.folder / "build", "-G", "Ninja", "-DLLOYD_D3=OFF",
             "-DLLOYD_BUILD_BENCH=OFF", "-DLLOYD_BUILD_CUDA=OFF", f"-DCMAKE_CXX_COMPILER={os.environ.get('CXX', 'c++')}"],
            capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "D3" in line]
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], r"^-- Lloyd: the HTML report is left out: D3 is not there \(install node-d3, or ")
        files = (self.folder / "build" / "apps" / "report_page_files.cpp").read_text()
        self.assertNotIn("{\"", files)
        tests = (self.folder / "build" / "tests" / "cli" / "CTestTestfile.cmake").read_text()
        self.assertIn("LLOYD_HTML_REPORT=0", tests)


if __name__ == "__main__":
    unittest.main()
