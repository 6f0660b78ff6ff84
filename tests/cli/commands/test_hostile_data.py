"""Data files that are easily misread: none is misread without a message, memory stays within its limit, and no text
from a file or an argument controls the terminal.
"""

import gzip
import os
import pathlib
import platform
import struct
import subprocess
import sys
import time
import unicodedata
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from filtered_hdf5 import FILTERED
from program import LLOYD, SANITIZED, TestCase, process_tree, run, run_json

MIB = 1 << 20

# Name, text, arguments, text that the message must contain.
MISREAD = [
    ("missing value in the last column", "a,b\n1,NA\n3,4\n", [],
     "line 2, column 2: 'NA' is not a number, as '4' in line 3 is"),
    ("question mark in the last column", "a,b\n1,?\n3,4\n", [], "line 2, column 2: '?'"),
    ("nothing but missing values", "a,b\n1,NA\n3,NA\n", [], "line 2, column 2: 'NA'"),
    ("empty first cell", "a,b\n1,\n3,4\n", [], "line 2, column 2: the cell is empty"),
    ("thousands", 'a,b\n1,"1,000"\n3,"2,000"\n', [], "line 2, column 2: '1,000' is not a number"),
    ("decimal comma", "a;b\n1;2,5\n3;3,5\n", ["--delimiter", ";"], "--decimal-comma reads it as 2.5"),
    ("thousands by a semicolon", "a;b\n1;1,000\n3;4\n", ["--delimiter", ";"], "'1,000' is not a number"),
    ("currency", "a,b\n1,$5\n3,$4\n", [], "currency"),
    ("percent", "a,b\n1,12%\n3,14%\n", [], "percent"),
    ("dates", "a,b\n1,2024-01-31\n3,2024-02-01\n", [], "convert dates"),
    ("Unicode minus", "a,b\n1,\u22125\n3,\u22124\n", [], "ASCII"),
    ("hexadecimal", "a,b\n1,0x1p3\n3,0x2p3\n", [], "decimal"),
    ("quantities", "a,b\n1,12kg\n3,14kg\n", [], "'12kg' is not a number"),
    ("first sample of missing values", "NA,NA\n1,2\n3,4\n", [], "--header or --no-header tells"),
    ("row numbers of pandas", ",x,y\n0,1.5,2\n1,3,4\n", [], "row numbers"),
    ("row numbers of R", '"","x","y"\n"1",1.5,2\n"2",3,4\n', [], "row numbers"),
    ("column numbers of pandas", "0,1\n0.5,0.25\n1.5,3.5\n", [], "may name the columns"),
    ("column -1 without a header", "1,2\n3,4\n", ["--columns", "-1"],
     "there is no column '-1'; the columns are 0 to 1"),
    ("a column that becomes zero", "1,1e-50\n2,1e-49\n", [], "'1e-50' is too small for float32"),
    ("beyond float32", "1,2\n3,1e39\n", [], "line 2, column 2: '1e39' is beyond the range of float32"),
]

ESCAPES = "\x1b[31m", "\u009b31m", "\u202e", "\u200b", "\u2028", "\U000e0041", "\x7f"


def unsafe(text):
    """Characters that must not be sent to a terminal."""
    return [c for c in text
            if c != "\n" and (unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp"))]


class Misread(TestCase):
    def test_what_is_no_number_is_refused_with_its_place(self):
        for name, text, arguments, expected in MISREAD:
            with self.subTest(name):
                file = self.write("x.csv", text)
                output = self.folder / "x.npy"
                for command in (["fit", file, "-k", "1"], ["data", "info", file],
                                ["data", "convert", file, output]):
                    done = run(*command, *arguments, status=2)
                    self.assertIn(expected, done.stderr)
                    self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                    self.assertFalse(output.exists())

    def test_a_last_column_of_text_is_classes_from_both_ways_of_reading(self):
        file = self.write("x.csv", "a,b\n1,NA\n3,cat\n5,\n6,dog\n")
        self.assertEqual(run_json("data", "info", file)["features"], 1)
        run("data", "convert", file, self.folder / "y.csv")
        self.assertEqual((self.folder / "y.csv").read_text(), 'a,b\n1,""\n3,cat\n5,""\n6,dog\n')
        run("data", "info", self.folder / "y.csv")
        numbers = self.write("z.csv", "a,b\n1,NA\n3,4\n")
        self.assertEqual(run_json("data", "info", numbers, "--label-column", "b")["features"], 1)


def maps_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""  # the process has ended


class Changed(TestCase):
    """Files that change while a fit has them mapped."""

    def started(self, iterations):
        file = self.folder / "blobs.npy"
        run("data", "blobs", file, "--samples", "300000", "--features", "8")
        process = subprocess.Popen([LLOYD, "fit", str(file), "-k", "8", "-b", "sequential", "--iterations",
                                    str(iterations), "--seeding", "first"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        while not any(str(file) in maps_of(pid) for pid in process_tree(process.pid)):
            self.assertIsNone(process.poll())
            time.sleep(0.001)
        return file, process

    def test_a_file_that_is_cut_is_named(self):
        file, process = self.started(1_000_000_000)
        os.truncate(file, 0)
        error = process.communicate(timeout=300)[1]
        self.assertEqual(process.returncode, 2, error)
        # Truncated: the fit had not begun to read the values.
        self.assertRegex(error, rf"{file}: the file was (cut|truncated)")

    def test_a_file_that_is_overwritten_gives_no_result(self):
        file, process = self.started(300)
        os.utime(file, ns=(0, 0))
        output, error = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 2, error)
        self.assertIn(f"{file}: the file was changed while it was in use", error)
        self.assertEqual(output, "")


class Crashes(TestCase):
    @unittest.skipIf(SANITIZED, "the library was built without the sanitizer")
    def test_a_crash_of_the_hdf5_library_names_the_file(self):
        file, filters = self.write("größe.h5", FILTERED), self.folder / "filters"
        filters.mkdir()
        environment = {**os.environ, "HDF5_PLUGIN_PATH": str(filters)}
        # Crashes are provoked in a filter, because a crash of libhdf5 itself would depend on its version.
        crashes = ["*(volatile int*)8 = 1;", "std::abort();"]
        if platform.machine() == "x86_64":  # other architectures divide by zero without a signal
            crashes.append("volatile int zero = 0; zero = 7 / zero;")
        for crash in crashes:
            source = self.write("crash.cpp", "#include <cstdlib>\n"
                                f"__attribute__((constructor)) static void crash() {{ {crash} }}\n")
            subprocess.run([os.environ.get("CXX", "c++"), "-w", "-shared", "-fPIC", "-o",
                            filters / "libfilter.so", source], check=True)
            for command in (["data", "info", file], ["data", "convert", file, self.folder / "x.npy"],
                            ["fit", file, "-k", "1", "-b", "sequential"]):
                with self.subTest(crash=crash, command=command[:2]):
                    done = subprocess.run([LLOYD, *map(str, command)], capture_output=True, text=True,
                                          env=environment, timeout=300)
                    if "without HDF5" in done.stderr:
                        self.skipTest("this build has no HDF5")
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertEqual(done.stderr, f"lloyd: {file}: the library that reads the file crashed; "
                                     "the file may be damaged\n")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["crash.cpp", "filters", "größe.h5"])


class Centroids(TestCase):
    """Centroid files: the commands that read them have no options for the format."""

    def test_advice_can_be_followed(self):
        data = self.write("data.csv", "0,1\n2,3\n")
        for text, option in (("1;2\n3;4\n", "if ';' separates the cells, set --delimiter"),
                             ("a,1\n1,2\n3,4\n", "--header or --no-header tells whether that row names the columns"),
                             (",b\n0,1\n2,3\n", "list the features with --columns")):
            file = self.write("c.csv", text)
            advice = "; 'lloyd data convert' has this option, and makes a file that needs none\n"
            for command in (["predict", file, data], ["fit", data, "-k", "2", "--seeding", file]):
                with self.subTest(option, command=command[0]):
                    said = run(*command, status=2).stderr
                    self.assertIn(option, said)
                    self.assertTrue(said.endswith(advice), said)
            said = run("fit", file, "-k", "2", status=2).stderr
            self.assertIn(option, said)
            self.assertNotIn("convert", said)

    def test_those_of_a_feature_without_a_name_are_read(self):
        data = self.write("data.csv", ",b\n0,1\n2,3\n5,9\n")
        centroids = self.folder / "centroids.csv"
        run("fit", data, "--columns", "0,1", "-k", "2", "--centroids", centroids)
        run("predict", centroids, data, "--columns", "0,1")


class Tables(TestCase):
    def test_one_long_name_does_not_widen_all_rows(self):
        data = self.write("wide.csv", "y" * 100000 + "," + ",".join(f"x{i}" for i in range(300)) + "\n"
                          + ("1," * 300 + "2\n") * 2)
        self.assertLess(len(run("data", "info", data).stdout), 200000)


class Holes(TestCase):
    def test_a_model_with_a_hole_is_refused_where_it_begins(self):
        data, model = self.write("data.csv", "0,1\n2,3\n"), self.folder / "model.json"
        run("fit", data, "-k", "2", "--model", model)
        size = model.stat().st_size
        os.truncate(model, size + 1000)
        self.assertEqual(run("predict", model, data, status=2).stderr,
                         f"lloyd: {model}: byte {size} (counted from 0) is zero, which text must not contain\n")


class Memory(TestCase):
    def peak(self, *arguments):
        """Status, messages and peak resident memory in bytes of one run of lloyd."""
        code = ("import resource, subprocess, sys; "
                "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
                "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        done = subprocess.run([sys.executable, "-c", code, LLOYD, *map(str, arguments)],
                              capture_output=True, text=True, check=True, timeout=300)
        status, peak = done.stdout.split()
        return int(status), done.stderr, int(peak) * 1024

    @unittest.skipIf(SANITIZED, "a sanitizer holds memory of its own")
    def test_text_is_parsed_within_the_limit(self):
        # Peak memory of each command without a limit: 270 to 800 MiB.
        files = {
            "a line without end": (b"1" * (4 * MIB), 64, "line 1: the line does not end within 8 MiB"),
            "a line of many cells": (b"1," * (2 * MIB), 64, "line 1"),
            "many rows": (b"1,2\n" * MIB, 96, "takes more than the 32 MiB of memory"),
            "many classes": (b"1,cat\n" * MIB, 24, "takes more than the 32 MiB of memory"),
            "rows of nothing": (b"x\n" + b"\n" * (4 * MIB), 64, ""),
        }
        for name, (piece, times, expected) in files.items():
            with self.subTest(name):
                packed = gzip.compress(piece, 6)
                head, tail = (gzip.compress(b"x\n"), gzip.compress(piece[2:], 6)) if piece[:2] == b"x\n" else (
                    b"", packed)
                file = self.write("bomb.csv.gz", head + tail * times)
                status, error, peak = self.peak("fit", file, "-k", 2, "--memory-limit", "64MiB")
                self.assertEqual(status, 2, error)
                self.assertIn(expected, error)
                self.assertIn("bomb.csv.gz", error)
                self.assertLess(peak, 110 * MIB)

    @unittest.skipIf(SANITIZED, "a sanitizer holds memory of its own")
    def test_centroids_are_read_within_the_limit(self):
        data = self.write("data.csv", "0,1\n2,3\n4,5\n")
        # 1 GiB of zeros in a sparse file.
        many = self.folder / "many.npy"
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (67108864, 2), }"
        header += b" " * (117 - len(header)) + b"\n"
        many.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        os.truncate(many, 10 + len(header) + 67108864 * 16)
        packed = self.write("packed.csv.gz", gzip.compress(b"1,2\n" * MIB) * 8)
        lists = self.write("lists.json", '{"format": "lloyd-model", "x": [' + "[]," * 4000000 + "[]]}")
        for command, expected in (
                (("predict", many, data), "many.npy: reading it takes 2.0 GiB of memory, and 32.0 MiB are left"),
                (("fit", data, "-k", 2, "--seeding", many),
                 "has 67108864 rows and 2 columns, but 2 centroids are needed"),
                (("predict", packed, data), "takes more than the 32 MiB of memory"),
                (("fit", data, "-k", 2, "--seeding", packed), "takes more than the 32 MiB of memory"),
                (("predict", lists, data), "lists.json: reading it takes ")):
            with self.subTest(command[:2]):
                status, error, peak = self.peak(*command, "--memory-limit", "64MiB")
                self.assertEqual(status, 2, error)
                self.assertIn(expected, error)
                self.assertLess(peak, 110 * MIB)

    @unittest.skipIf(SANITIZED, "a sanitizer holds memory of its own")
    def test_info_holds_no_more_than_blocks(self):
        # 512 MiB of zeros in Fortran order, in a sparse file.
        rows, file = 1 << 26, self.folder / "zeros.npy"
        header = f"{{'descr': '<f4', 'fortran_order': True, 'shape': ({rows}, 2), }}".encode()
        header += b" " * (117 - len(header)) + b"\n"
        file.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        os.truncate(file, 10 + len(header) + rows * 8)
        status, error, peak = self.peak("data", "info", file)
        self.assertEqual(status, 0, error)
        self.assertLess(peak, 110 * MIB)

    @unittest.skipIf(SANITIZED, "a sanitizer holds memory of its own")
    def test_text_that_fits_is_read_within_the_limit(self):
        rows = b"".join(b"%d.5,%d\n" % (i % 1000, i % 77) for i in range(1 << 16))
        file = self.write("x.csv.gz", gzip.compress(rows) * 48)  # 24 MiB of values
        status, error, peak = self.peak("fit", file, "-k", 2, "--iterations", 1, "-b", "sequential",
                                        "--memory-limit", "100MiB")
        self.assertEqual(status, 0, error)
        self.assertLess(peak, 100 * MIB)


class Terminal(TestCase):
    def shown(self, *arguments, status=None):
        done = subprocess.run([LLOYD, *map(str, arguments)], capture_output=True, timeout=300,
                              stdin=subprocess.DEVNULL, check=False)
        text = (done.stdout + done.stderr).decode("utf-8")  # fails if the output is not UTF-8
        self.assertEqual(unsafe(text), [], text)
        if status is not None:
            self.assertEqual(done.returncode, status, text)
        return text

    def test_headers_and_cells_are_shown_without_what_steers_a_terminal(self):
        for escape in ESCAPES:
            with self.subTest(escape.encode("unicode_escape")):
                file = self.write("x.csv", f"a{escape}b,c\n1,2\n3,5\n")
                self.assertIn("a?", self.shown("data", "info", file, status=0))
                self.shown("data", "info", file, "--json", status=0)
                exact = run_json("data", "info", file)["statistics"][0]["feature"]
                self.assertEqual(exact, f"a{escape}b")
                bad = self.write("y.csv", f"1,2\n3,4{escape}\n")
                self.assertIn("4?", self.shown("data", "info", bad, status=2))
                self.shown("data", "info", file, "--columns", f"q{escape}", status=2)

    def test_bytes_that_are_not_text_are_shown_as_such(self):
        file = self.write("x.csv", b"gr\xf6\xdfe,\x9b31m\n1,2\n3,5\n")
        self.assertIn("gr??e", self.shown("data", "info", file, status=0))

    def test_arguments_and_file_names(self):
        for escape in ESCAPES:
            with self.subTest(escape.encode("unicode_escape")):
                self.shown(f"fit{escape}", status=2)
                self.shown("fit", f"x{escape}.csv", status=2)
                self.shown("fit", "x.csv", f"--c{escape}", "3", status=2)
                self.shown("fit", "x.csv", "-k", f"3{escape}", status=2)
                self.shown("fit", "x.csv", "--memory-limit", f"3{escape}", status=2)
                self.shown("fit", "x.csv", "-b", f"sequential{escape}", status=2)
                self.shown("--plugin-dir", f"/no{escape}", "backends", status=2)
                file = self.write(f"x{escape}.csv", "1,2\n3,4\n5,7\n")
                self.shown("data", "info", file, status=0)
                self.shown("fit", file, "-k", 2, "-o", self.folder / f"o{escape}", status=0)
                self.shown("data", "convert", file, self.folder / f"y{escape}.npy", status=0)
                self.shown("predict", self.folder / f"o{escape}" / "model.json", file, "--labels",
                           self.folder / f"l{escape}.csv", status=0)

    def test_configurations(self):
        for escape in ESCAPES:
            with self.subTest(escape.encode("unicode_escape")):
                quoted = "".join(f"\\U{ord(c):08x}" for c in escape)
                for line in (f'"a{quoted}": 1', f'experiment: "a{quoted}"', f'dataset: {{file: "a{quoted}.csv"}}',
                             f'backends: ["a{quoted}"]'):
                    config = self.write("c.yaml", line + "\n")
                    self.shown("run", config, status=2)


if __name__ == "__main__":
    unittest.main()
