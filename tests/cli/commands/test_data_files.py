"""Data files of every format, from the command line and in experiments, in bounded memory."""

import gzip
import json
import pathlib
import re
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import IRIS, LLOYD, SANITIZED, TestCase, run, run_json

# All extensions that are written, from the message for another one.
FORMATS = re.findall(r"\.[a-z0-9]+", run("data", "blobs", "x.unknown", status=2).stderr.partition(" unknown; ")[2])
TWO_ROWS = b"\2\0\0\0\0\0\x80\x3f\0\0\0\x40" * 2

CONFIG = """
experiment: files
dataset: {file: FILE}
clusters: 3
backends: [sequential]
repeats: 1
output: OUTPUT
"""

# Name, file, bytes, arguments, text that the message must contain.
BAD = [
    (".fvecs that is cut", "x.fvecs", TWO_ROWS[:-1], [], "x.fvecs: the file is truncated"),
    (".fvecs with a negative count", "x.fvecs", b"\xff\xff\xff\xff", [], "claims -1 values"),
    (".fvecs with rows of two lengths", "x.fvecs", TWO_ROWS[:12] + b"\1" + TWO_ROWS[13:], [],
     "row 1 (counted from 0) claims 1 value"),
    (".bvecs that is cut", "x.bvecs", b"\2\0\0\0\1", [], "x.bvecs: the file is truncated"),
    ("empty .fvecs", "x.fvecs", b"", [], "x.fvecs: the file is empty"),
    ("infinity in an .fvecs", "x.fvecs", TWO_ROWS[:-4] + b"\0\0\x80\x7f", [], "row 1, column 1"),
    ("text named .h5", "x.h5", b"1,2\n3,4\n", [], "x.h5: is not a readable HDF5 file"),
    ("empty .h5", "x.hdf5", b"", [], "x.hdf5: is not a readable HDF5 file"),
    ("magic of HDF5 alone", "x.h5", b"\x89HDF\r\n\x1a\n" + b"\xff" * 200, [],
     "x.h5: is not a readable HDF5 file"),
    ("text named .gz", "x.csv.gz", b"1,2\n3,4\n", [], "x.csv.gz: is not a gzip file"),
    ("gzip that is cut", "x.csv.gz", gzip.compress(b"1,2\n3,4\n")[:-3], [], "truncated"),
    ("bad cell in gzip", "x.csv.gz", gzip.compress(b"1,2\n3,x\n"), [], "x.csv.gz, line 2, column 2"),
    ("gzip of no table", "x.npy.gz", gzip.compress(b"1,2\n"), [], "'.gz' is unknown"),
    ("option of text", "x.fvecs", TWO_ROWS, ["--header"], "--header is for text files only"),
    ("column of no name", "x.fvecs", TWO_ROWS, ["--columns", "a"], "--columns has 'a'; the columns of "),
    ("column used twice", "x.fvecs", TWO_ROWS, ["--columns", "0,1,00"], "--columns has column 0 twice"),
    ("column dropped twice", "x.fvecs", TWO_ROWS, ["--drop-columns", "1,1"], "--drop-columns has column 1 twice"),
    ("column of no number", "x.fvecs", TWO_ROWS, ["--drop-columns", "7"], "there is no column 7; the columns are 0 to"),
    ("dtype where there is one", "x.fvecs", TWO_ROWS, ["--dtype", "float64"],
     "--dtype is for text files"),
    ("data set of no HDF5", "x.fvecs", TWO_ROWS, ["--dataset", "x"], "for HDF5 and .npz files only"),
]


class Formats(TestCase):
    def test_each_gives_the_same_data(self):
        facts = None
        self.assertGreaterEqual(len(FORMATS), 5)
        for extension in FORMATS:
            file = self.folder / ("blobs" + extension)
            run("data", "blobs", file, "--samples", "2000", "--features", "3", "--seed", "5")
            info = run_json("data", "info", file)
            facts = facts or info["fingerprint"]
            self.assertEqual(info["fingerprint"], facts, extension)
            self.assertEqual((info["samples"], info["dtype"]), (2000, "float32"))
        csv = self.folder / "blobs.csv"
        packed = self.write("packed.csv.gz", gzip.compress(csv.read_bytes()))
        self.assertEqual(run_json("data", "info", packed)["fingerprint"], facts)

    def test_convert_changes_the_dtype(self):
        wide, narrow = self.folder / "wide.npy", self.folder / "narrow.fvecs"
        run("data", "convert", IRIS, wide, "--dtype", "float64")
        self.assertEqual(run_json("data", "info", wide)["dtype"], "float64")
        error = run("data", "convert", wide, narrow, status=2).stderr
        self.assertIn("; --dtype float32 rounds them", error)
        run("data", "convert", wide, narrow, "--dtype", "float32")
        self.assertEqual(narrow.stat().st_size, 150 * (4 + 4 * 4))
        self.assertEqual(struct.unpack("<i4f", narrow.read_bytes()[:20])[0], 4)

    def test_fit_gives_the_same_clusters_from_each(self):
        inertia = run_json("fit", IRIS, "-k", "3", "-b", "sequential")["inertia"]
        for extension in FORMATS:
            with self.subTest(extension):
                file = self.folder / ("iris" + extension)
                run("data", "convert", IRIS, file)
                for backend in ("sequential", "openmp"):
                    fit = run_json("fit", file, "-k", "3", "-b", backend)
                    self.assertEqual(fit["inertia"], inertia)

    def test_bad_files_end_with_one_sentence(self):
        for name, file, data, arguments, expected in BAD:
            with self.subTest(name):
                path = self.write(file, data)
                done = run("data", "info", path, *arguments, status=2)
                self.assertIn(expected, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertEqual(done.stdout, "")


class Experiments(TestCase):
    def experiment(self, dataset, status=0):
        config = self.write("c.yaml", CONFIG.replace("{file: FILE}", dataset)
                            .replace("OUTPUT", str(self.folder / "out")))
        return run("run", config, status=status)

    def test_files_are_named_as_for_fit(self):
        run("data", "convert", IRIS, self.folder / "iris.h5")
        run("data", "convert", IRIS, self.folder / "iris.fvecs")
        text = IRIS.read_bytes().replace(b",", b"\t")
        self.write("iris.tsv.gz", gzip.compress(text))
        for dataset in ("{file: iris.h5}", "{file: iris.h5, dataset: /data}", "{file: iris.fvecs}",
                        "{file: iris.tsv.gz, columns: [0, 1, 2, 3]}",
                        "{file: iris.tsv.gz, delimiter: tab, label_column: species}"):
            self.experiment(dataset)
        lines = (self.folder / "out" / "records.jsonl").read_text().splitlines()
        records = [json.loads(line) for line in lines]
        self.assertEqual(len(records), 5)
        self.assertEqual(len({record["inertia"] for record in records}), 1)
        self.assertEqual(len({record["dataset"]["fingerprint"] for record in records}), 1)
        self.assertEqual(records[1]["dataset"]["source"]["dataset"], "/data")

    def test_options_of_another_format_are_refused_with_their_place(self):
        for dataset, expected in (
                ("{file: x.csv, dataset: a}", "c.yaml:3:24: 'dataset.dataset' is for HDF5 and .npz files only"),
                ("{file: x.h5, header: true}", "c.yaml:3:23: 'dataset.header' is for text files only"),
                ("{file: x.fvecs, dtype: float64}",
                 "c.yaml:3:26: 'dataset.dtype' is not for .fvecs files, which have their own"),
                ("{file: x.parquet}", "c.yaml:3:17: ")):
            self.assertIn(expected, self.experiment(dataset, status=2).stderr)


class Results(TestCase):
    def test_format_of_the_output_folder(self):
        run("fit", IRIS, "-k", "3", "-o", self.folder / "out", "--format", "npy")
        names = sorted(path.name for path in (self.folder / "out").iterdir())
        self.assertEqual(names, ["centroids.npy", "labels.npy", "model.json"])
        labels = (self.folder / "out" / "labels.npy").read_bytes()
        self.assertIn(b"'descr': '<i4', 'fortran_order': False, 'shape': (150,)", labels)
        centroids = (self.folder / "out" / "centroids.npy").read_bytes()
        self.assertIn(b"'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)", centroids)
        self.assertIn("--output", run("fit", IRIS, "-k", "3", "--format", "npy", status=2).stderr)
        self.assertIn("parquet", run("fit", IRIS, "-k", "3", "-o", self.folder / "out", "--format",
                                     "parquet", status=2).stderr)

    def test_centroids_are_a_model_and_a_start_in_any_format(self):
        model, centroids = self.folder / "model.json", self.folder / "centroids.csv"
        run("fit", IRIS, "-k", "3", "--model", model, "--centroids", centroids, "--restarts", "10")
        labels = run("predict", model, IRIS).stdout
        self.assertEqual(len(labels.split()), 150)
        files = [centroids, self.write("c.csv.gz", gzip.compress(centroids.read_bytes()))]
        for name in ("c.npy", "c.h5"):
            files.append(self.folder / name)
            run("data", "convert", centroids, files[-1], "--dtype", "float64")
        for file in files:
            with self.subTest(file.name):
                self.assertEqual(run("predict", file, IRIS).stdout, labels)
                self.assertEqual(run_json("fit", IRIS, "-k", "3", "--init", file)["iterations"], 1)
        single = self.folder / "c.fvecs"
        run("data", "convert", centroids, single, "--dtype", "float32")
        self.assertEqual(run("predict", single, IRIS).stdout, labels)

    def test_names_of_a_centroid_file_must_be_the_datas(self):
        file = self.write("c.csv", "a,b,c,d\n1,2,3,4\n5,6,7,8\n")
        self.assertIn("'sepal_length', but that of the model", run("predict", file, IRIS, status=2).stderr)
        bad = self.write("d.csv", "1,2\n3,x\n")
        self.assertIn("d.csv, line 2, column 2", run("predict", bad, IRIS, status=2).stderr)


class Memory(TestCase):
    """Streamed data takes the same memory whatever its size."""

    SPACE = 700_000_000

    def peak(self, *arguments):
        """Peak resident memory in MiB."""
        code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        done = subprocess.run(["python3", "-c", code, LLOYD, *map(str, arguments)],
                              capture_output=True, text=True, check=True, timeout=300)
        return int(done.stdout) / 1024

    @unittest.skipIf(SANITIZED, "their shadow memory counts too")
    def test_does_not_grow_with_the_data(self):
        small = self.peak("data", "blobs", self.folder / "small.npy", "--samples", "1000")
        limit = small + 50
        wide = self.folder / "wide.npy"  # 160 MB
        self.assertLess(self.peak("data", "blobs", wide, "--samples", "10000000", "--dtype", "float64"),
                        limit)
        narrow = self.folder / "narrow.npy"
        self.assertLess(self.peak("data", "convert", wide, narrow, "--dtype", "float32"), limit)
        wide.unlink()
        before = narrow
        for name in ("a.h5", "b.fvecs", "c.csv", "d.npy"):
            file = self.folder / name
            self.assertLess(self.peak("data", "convert", before, file), limit, name)
            if before != narrow:
                before.unlink()
            before = file
        self.assertEqual(before.read_bytes(), narrow.read_bytes())

    @unittest.skipIf(SANITIZED, "their shadow memory counts too")
    def test_fortran_order_is_read_in_blocks(self):
        samples = 10_000_000
        header = f"{{'descr': '>f4', 'fortran_order': True, 'shape': ({samples}, 2), }}".ljust(117) + "\n"
        file, out = self.folder / "f.npy", self.folder / "c.npy"
        with open(file, "wb") as stream:
            stream.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
            for value in (1, 2):
                for _ in range(10):
                    stream.write(struct.pack(">f", value) * (samples // 10))
        self.assertLess(self.peak("data", "convert", file, out), 100)
        with open(out, "rb") as stream:
            stream.seek(128 + 8 * (samples - 1))
            self.assertEqual(struct.unpack("<2f", stream.read()), (1, 2))

    def test_an_interruption_leaves_nothing(self):
        process = subprocess.Popen([LLOYD, "data", "blobs", str(self.folder / "b.csv"), "--samples",
                                    "1000000000"], stderr=subprocess.PIPE, text=True)
        while not list(self.folder.iterdir()):
            self.assertIsNone(process.poll())
        process.terminate()
        error = process.communicate(timeout=100)[1]
        self.assertEqual(process.returncode, 130, error)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
