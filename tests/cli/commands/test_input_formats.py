"""Standard input, .npz and .npy of every type, distances of predict."""

import io
import json
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import IRIS, LLOYD, TestCase, run, run_json

VALUES = [0, 1, 2, 3, 50, 60]  # 3 x 2


def npy(values, code="d", descr="<f8", shape="(3, 2)"):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + struct.pack(f"<{len(values)}{code}", *values)


def npz(arrays, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as member:  # as NumPy writes it
                member.write(data)
    return file.getvalue()


class Npz(TestCase):
    def fingerprint(self, file, *options):
        return run_json("data", "info", file, *options)["fingerprint"]

    def setUp(self):
        super().setUp()
        self.expected = self.fingerprint(self.write("plain.npy", npy(VALUES)))

    def test_stored_and_compressed_arrays_are_read(self):
        for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            file = self.write("x.npz", npz({"arr_0": npy(VALUES)}, compression))
            self.assertEqual(self.fingerprint(file), self.expected)
            self.assertEqual(run_json("fit", file, "-k", "2")["counts"], run_json(
                "fit", self.folder / "plain.npy", "-k", "2")["counts"])

    def test_an_array_is_chosen_by_name(self):
        file = self.write("x.npz", npz({"a": npy([7] * 6), "points": npy(VALUES)}))
        self.assertEqual(self.fingerprint(file, "--dataset", "points"), self.expected)
        self.assertIn("x.npz: holds several arrays; the arrays are a, points; --dataset chooses one",
                      run("fit", file, "-k", "2", status=2).stderr)
        self.assertIn("x.npz: has no array 'b'; the arrays are a, points",
                      run("fit", file, "-k", "2", "--dataset", "b", status=2).stderr)

    def test_experiments_choose_an_array(self):
        self.write("x.npz", npz({"a": npy([7] * 6), "points": npy(VALUES)}))
        config = self.write("c.yaml", "dataset: {file: x.npz, dataset: points}\nclusters: 2\nbackends: [sequential]\n"
                                      "stop: {iterations: 2}\nrepeats: 1\noutput: out\n")
        run("run", config, cwd=self.folder)

    def test_no_temporary_file_is_left(self):
        file = self.write("x.npz", npz({"arr_0": npy(VALUES)}, zipfile.ZIP_DEFLATED))
        temporary = self.folder / "tmp"
        temporary.mkdir()
        run("data", "info", file, env={"TMPDIR": str(temporary)})
        self.assertEqual(list(temporary.iterdir()), [])
        sentence = run("data", "info", file, env={"TMPDIR": str(self.folder / "none")}, status=2).stderr
        self.assertIn(f"{file}: unpacking it takes a folder for temporary files, and there is none", sentence)
        self.assertIn("TMPDIR names one", sentence)

    def test_damaged_archives_are_refused(self):
        stored = npz({"a": npy(VALUES)})
        deflated = npz({"a": npy([i % 7 for i in range(3000)], shape="(1500, 2)")}, zipfile.ZIP_DEFLATED)
        place = stored.index(npy(VALUES))
        end = stored.rindex(b"PK\x05\x06")
        entry = deflated.rindex(b"PK\x01\x02")
        def changed(data, at, value):
            return data[:at] + value + data[at + len(value):]
        for name, data, expected in (
                ("empty", b"", "is not an .npz file"), ("text", b"1,2\n" * 20, "is not an .npz file"),
                ("no array", npz({}), "holds no arrays"), ("cut", stored[:-30], "is not an .npz file"),
                ("changed value", changed(stored, place + 130, b"\1"), "the data of 'a' is damaged"),
                ("changed stream", changed(deflated, deflated.index(b"a.npy") + 40, b"\xff" * 20), "the data of 'a' is damaged"),
                ("encrypted", changed(deflated, entry + 8, b"\1"), "'a.npy' is encrypted"),
                ("method", changed(deflated, entry + 10, b"\x0c"), "'a.npy' is compressed by method 12"),
                ("bomb", changed(deflated, entry + 24, b"\0\0\0\x7f"), "'a.npy' claims 2130706432 bytes, more than"),
                ("size", changed(deflated, entry + 24, b"\1\0\0\0"), "the data of 'a' is damaged"),
                ("offset", changed(deflated, entry + 42, b"\xf0\xff\xff\x0f"), "the directory of the .npz file is"),
                ("directory", changed(stored, end + 16, b"\xf0\xff\xff\x0f"), "the directory of the .npz file is"),
                ("large directory", changed(stored, end + 12, b"\0\0\0\x7f"), "the limit is"),
                ("number of members", changed(stored, end + 10, b"\7"), "the directory of the .npz file is"),
                ("not an array", npz({"a": b"1,2\n"}), "is not an .npy file")):
            with self.subTest(name):
                file = self.write("x.npz", data)
                sentence = run("data", "info", file, status=2).stderr
                self.assertIn(f"{file}: ", sentence)
                self.assertIn(expected, sentence)


class NpyTypes(TestCase):
    def test_every_integer_and_half_type_is_read(self):
        for descr, code, dtype in (("|i1", "b", "float32"), ("<u2", "H", "float32"), ("<i4", "i", "float64"),
                                   ("<u8", "Q", "float64"), ("<f2", "e", "float32"), ("|b1", "?", "float32")):
            with self.subTest(descr):
                info = run_json("data", "info", self.write("x.npy", npy([0, 1, 0, 1, 1, 0], code, descr)))
                self.assertEqual(info["dtype"], dtype)
                self.assertAlmostEqual(info["statistics"][0]["mean"], 1 / 3)
                self.assertAlmostEqual(info["statistics"][1]["mean"], 2 / 3)


class MissingValues(TestCase):
    def test_messages_about_binary_files_name_the_option(self):
        values = npy([1, float("nan"), 3, 4, 5, 6])
        advice = "row 0, column 1 (counted from 0) is nan; all values must be finite; --drop-missing leaves such rows out"
        for file in (self.write("x.npy", values), self.write("x.npz", npz({"a": values}))):
            output = self.folder / "y.csv"
            for command in (["fit", file, "-k", "1"], ["fit", file, "-k", "1", "--standardize"], ["data", "info", file],
                            ["fit", file, "-k", "1", "--columns", "1"], ["data", "convert", file, output],
                            ["data", "convert", file, output, "--columns", "1"], ["data", "info", file, "--columns", "1"],
                            ["predict", self.write("m.csv", "1\n"), file, "--columns", "1"]):
                with self.subTest(command):
                    self.assertIn(advice, run(*command, status=2).stderr)
        infinite = self.write("i.npy", npy([1, float("inf")] * 3))
        self.assertNotIn("--drop-missing", run("fit", infinite, "-k", "1", status=2).stderr)

    def test_messages_count_rows_that_were_left_out(self):
        file = self.write("x.npy", npy([1, float("nan"), 3, 4, 5, float("inf")]))
        for command in (["fit", file, "-k", "1"], ["data", "info", file], ["data", "convert", file, self.folder / "y.csv"],
                        ["fit", file, "-k", "1", "--standardize"], ["predict", self.write("m.csv", "1,2\n"), file]):
            with self.subTest(command):
                self.assertIn("row 2, column 1 (counted from 0) is inf", run(*command, "--drop-missing", status=2).stderr)


class StandardInput(TestCase):
    def piped(self, data, *arguments, status=0, env=None):
        done = subprocess.run([LLOYD, *map(str, arguments)], input=data, capture_output=True, timeout=120,
                              env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_every_format_is_recognised(self):
        formats = [IRIS.read_bytes(), npy(VALUES), npz({"a": npy(VALUES)})]
        for extension in (".h5", ".csv"):
            file = self.folder / ("x" + extension)
            if subprocess.run([LLOYD, "data", "convert", IRIS, file], capture_output=True).returncode == 0:
                formats.append(file.read_bytes())
        for data in formats:
            self.assertIn(b"samples", self.piped(data, "data", "info", "-").stdout)

    def test_fit_predict_and_convert_read_it(self):
        model, labels, copy = (self.folder / name for name in ("m.json", "l.csv", "c.npy"))
        data = IRIS.read_bytes()
        temporary = self.folder / "tmp"
        temporary.mkdir()
        env = {"TMPDIR": str(temporary)}
        self.piped(data, "fit", "-", "-k", "3", "--model", model, "--labels", labels, env=env)
        predicted = self.piped(data, "predict", model, "-", env=env).stdout
        self.assertEqual(predicted.decode(), labels.read_text())
        self.piped(data, "data", "convert", "-", copy, env=env)
        self.assertEqual(run_json("data", "info", copy)["fingerprint"], run_json("data", "info", IRIS)["fingerprint"])
        self.assertEqual(list(temporary.iterdir()), [])

    def test_options_and_messages_apply(self):
        done = self.piped(b"x;y\n1;2\n3;4\n", "data", "info", "-", "--delimiter", ";")
        self.assertIn(b"standard input: 2 samples, 2 features", done.stdout)

    def test_results_name_standard_input(self):
        data, plot, model = b"x,y\n1,2\n3,4\n5,7\n", self.folder / "p.svg", self.folder / "m.json"
        fit = json.loads(self.piped(data, "fit", "-", "-k", "2", "--plot", plot, "--model", model, "--json").stdout)
        self.assertEqual(fit["dataset"]["name"], "standard input")
        self.assertIn(">standard input</text>", plot.read_text())
        choice, chart = self.piped(data, "fit", "-", "-k", "1..2", "--criteria", plot), plot.read_text()
        self.assertIn(b"standard input: 3 samples of 2 features", choice.stdout)
        self.assertIn("standard input", chart)
        predicted = json.loads(self.piped(data, "predict", model, "-", "--json").stdout)
        self.assertEqual(predicted["dataset"]["name"], "standard input")
        self.assertIn(b"labelled 3 samples of standard input by ",
                      self.piped(data, "predict", model, "-", "--labels", self.folder / "l.csv").stdout)
        self.assertEqual(json.loads(self.piped(data, "data", "info", "-", "--json").stdout)["name"], "standard input")

    def test_messages_name_standard_input(self):
        missing = npy([1, float("nan"), 3, 4, 5, 6])
        many = npy([1] * 600_000, shape=(300_000, 2))
        cases = ((b"1,2\n3,4\n", ["-k", "3"], 2, b"the number of samples in standard input\n"),
                 (b"1,2\na,b\n", ["-k", "1", "--columns", "1"], 2, b"standard input, line 2, column 2: 'b' is not"),
                 (b"", ["-k", "1"], 2, b"standard input: the file holds no rows"),
                 (npy(VALUES), ["-k", "1", "--header"], 2, b"for text files only, and standard input is not one"),
                 (npy(VALUES), ["-k", "1", "--columns", "x"], 2, b"the columns of standard input have no names"),
                 (missing, ["-k", "1"], 2, b"standard input: row 0, column 1 (counted from 0) is nan"),
                 (missing, ["-k", "1", "--drop-missing"], 0, b"standard input: 1 of 3 rows has a missing value"),
                 (many, ["-k", "1", "--memory-limit", "36MiB"], 0, b"standard input is read in blocks"))
        for data, options, status, message in cases:
            with self.subTest(message):
                said = self.piped(data, "fit", "-", "--backend", "sequential", *options, status=status).stderr
                self.assertIn(message, said)
                self.assertNotIn(tempfile.gettempdir().encode() + b"/", said)

    def test_the_file_that_it_is_redirected_from_is_kept(self):
        model = self.write("m.csv", "0,0\n9,9\n")
        text = "1,2\n3,4\n9,8\n"
        data = self.write("d.csv", text)
        for arguments in (("fit", "-", "-k", "1", "--labels", data), ("fit", "-", "-k", "1", "--centroids", data),
                          ("predict", model, "-", "--distances", data), ("data", "convert", "-", data)):
            with self.subTest(arguments[0]), open(data) as file:
                done = subprocess.run([LLOYD, *map(str, arguments)], stdin=file, capture_output=True, text=True,
                                      timeout=120)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("is read, so it cannot be written too", done.stderr)
                self.assertEqual(data.read_text(), text)
        with open(data) as file, open(data, "a") as output:
            done = subprocess.run([LLOYD, "data", "info", "-"], stdin=file, stdout=output, stderr=subprocess.PIPE,
                                  text=True, timeout=120)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(data.read_text(), text)

    def test_a_terminal_is_refused(self):
        controller, terminal = pty.openpty()
        done = subprocess.run([LLOYD, "fit", "-", "-k", "1"], stdin=terminal, capture_output=True, text=True,
                              timeout=60)
        os.close(controller)
        os.close(terminal)
        self.assertEqual(done.returncode, 2)
        self.assertIn("standard input, which is a terminal", done.stderr)


class Distances(TestCase):
    def test_predict_writes_the_distance_of_each_sample(self):
        data = self.write("d.csv", "0,0\n3,4\n10,0\n10,1.5\n")
        centroids = self.write("c.csv", "0,0\n10,0\n")
        for name in ("x.csv", "x.npy"):
            file = self.folder / name
            run("predict", centroids, data, "--labels", self.folder / "l.csv", "--distances", file)
            distances = ([float(line) for line in file.read_text().split()] if name == "x.csv" else
                         list(struct.unpack("<4d", file.read_bytes()[128:])))
            self.assertEqual(distances, [0, 5, 0, 1.5])
        self.assertIn(b"'shape': (4,)", file.read_bytes()[:128])
        self.assertEqual((self.folder / "l.csv").read_text().split(), ["0", "0", "1", "1"])

    def test_outputs_are_checked_first(self):
        centroids = self.write("c.csv", "0,0\n")
        self.assertIn("'.txt' is unknown", run("predict", centroids, centroids, "--distances", self.folder / "d.txt",
                                               status=2).stderr)
        self.assertIn("two outputs", run("predict", centroids, centroids, "--labels", self.folder / "a.csv",
                                         "--distances", self.folder / "a.csv", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
