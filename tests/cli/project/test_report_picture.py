"""The picture in README.md is of this version."""

import pathlib
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ROOT, TestCase, run


class ReportPicture(TestCase):
    def test_is_of_this_version(self):
        png = (ROOT / "docs" / "report.png").read_bytes()
        version = " ".join(run("--version").stdout.split()[:2])
        data = b"tEXtSoftware\0" + version.encode()
        chunk = struct.pack(">I", len(data) - 4) + data
        self.assertTrue(chunk in png, f"docs/report.png is not of {version}: run tests/report_picture.py")


if __name__ == "__main__":
    unittest.main()
