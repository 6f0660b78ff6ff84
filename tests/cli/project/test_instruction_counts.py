"""bench/instruction_counts.py compares two programs; a stand-in for valgrind provides the counts."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ROOT, TestCase

SCRIPT = ROOT / "bench" / "instruction_counts.py"
# Reports 5000 instructions for the start and, per iteration, the number in the program's file.
VALGRIND = r"""#!/bin/bash
count=$(cat "$3.count")
for ((i = 1; i <= $#; ++i)); do [ "${!i}" != --iterations ] || { ((++i)); iterations=${!i}; }; done
echo "==1== Collected : $((5000 + count * iterations))" >&2
"""


class InstructionCounts(TestCase):
    def setUp(self):
        super().setUp()
        self.script("valgrind", VALGRIND)

    def script(self, name, text):
        path = self.write(name, text)
        path.chmod(0o755)
        return path

    def program(self, name, count):
        self.write(f"{name}.count", str(count))
        return self.script(name, "#!/bin/sh\n")

    def compare(self, *arguments, status, path=os.environ["PATH"]):
        done = subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.folder}:{path}"}, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_ratios_within_the_margin_pass_and_others_fail(self):
        old = self.program("old", 1000)
        lines = self.compare(old, self.program("same", 1019), status=0).stdout.splitlines()
        self.assertEqual(lines[1].split(), ["100000", "2", "32", "1000", "1019", "1.019"])
        self.assertEqual(len(lines), 5)
        for count in (979, 1021):
            lines = self.compare(old, self.program("other", count), status=1).stdout.splitlines()
            self.assertTrue(all(line.endswith("beyond the margin") for line in lines[1:]), lines)
        self.compare(old, self.program("other", 1021), "--margin", "3", status=0)

    def test_bad_use_has_status_2_and_one_sentence(self):
        old = self.program("old", 1000)
        self.script("git", "#!/bin/sh\nexit 1\n")  # reports no commit, whether or not the machine has git
        done = self.compare(old, "no-such-commit", status=2)
        self.assertEqual(done.stderr,
                         "instruction_counts.py: 'no-such-commit' is neither a program nor a commit\n")
        self.compare(old, old, "--margin", "much", status=2)
        (self.folder / "old.count").unlink()
        self.script("valgrind", "#!/bin/sh\necho 'lloyd: no such data' >&2\nexit 2\n")
        done = self.compare(old, old, status=2)
        self.assertRegex(done.stderr, r"(?s)^instruction_counts.py: valgrind .*: lloyd: no such data\n$")

    def test_programs_that_are_not_installed_are_named(self):
        old = self.program("old", 1000)
        done = self.compare(old, "HEAD", path="/nowhere", status=2)
        self.assertEqual(done.stderr, "instruction_counts.py: git is not installed\n")
        (self.folder / "valgrind").unlink()
        done = self.compare(old, old, path="/nowhere", status=2)
        self.assertEqual(done.stderr, "instruction_counts.py: valgrind is not installed\n")


if __name__ == "__main__":
    unittest.main()
