"""bench/rank_speedup.py compares fits on several ranks."""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from mpi import ENVIRONMENT, MPIEXEC
from program import LLOYD, ROOT, TestCase

BUILD = pathlib.Path(LLOYD).parents[1]


class RankSpeedup(TestCase):
    def compare(self, *arguments, status=0):
        done = subprocess.run([sys.executable, "-B", ROOT / "bench" / "rank_speedup.py", *arguments, "--build", BUILD],
                              capture_output=True, text=True, env=ENVIRONMENT, stdin=subprocess.DEVNULL, timeout=300)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    @unittest.skipUnless(MPIEXEC, "this build has no MPI")
    def test_every_setting_has_a_line_and_the_same_bits(self):
        rows = self.compare("1", "2", "--shape", "2000x3x4", "--shape", "999x2x3", "--rounds", "1", "--iterations", "3",
                            "--mpirun", MPIEXEC).stdout.splitlines()
        self.assertEqual([row.split()[:2] for row in rows],
                         [[shape, ranks] for shape in ("2000x3x4", "999x2x3") for ranks in ("1", "2")])
        for row in rows:
            self.assertRegex(row, r" ms an iteration +[0-9.]+ times as fast  same bits$")

    def test_other_bits_have_status_1(self):
        launcher = self.folder / "launcher"
        launcher.write_text('#!/bin/sh\nshift 4\nexec "$@" --seed 1\n')
        launcher.chmod(0o755)
        rows = self.compare("1", "2", "--shape", "2000x3x4", "--rounds", "1", "--iterations", "3", "--mpirun", launcher,
                            status=1).stdout.splitlines()
        self.assertTrue(rows[0].endswith("same bits"), rows)
        self.assertTrue(rows[1].endswith("OTHER BITS"), rows)

    def test_bad_options_have_one_sentence(self):
        for arguments, message in ((("0",), "the setting '0' is not RANKS or RANKSxTHREADS"),
                                   (("2x",), "the setting '2x' is not RANKS or RANKSxTHREADS"),
                                   (("2x3x4",), "the setting '2x3x4' is not RANKS or RANKSxTHREADS"),
                                   (("1", "--shape", "2x3"), "the shape '2x3' is not SAMPLESxFEATURESxCLUSTERS")):
            with self.subTest(message):
                self.assertIn(message, self.compare(*arguments, status=2).stderr)
        done = self.compare("1", "--backend", "none", "--shape", "9x2x2", status=1)
        self.assertRegex(done.stderr, r"^rank_speedup.py: .*lloyd fit .* failed: lloyd: .*none")


if __name__ == "__main__":
    unittest.main()
