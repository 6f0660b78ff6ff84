"""Wrong inputs of every kind: each ends with status 2 and one sentence with the place and the problem."""

import pathlib
import platform
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import IRIS, LLOYD, TestCase, run

# Name, files to create, arguments, text that the message must contain. {folder} is the test's folder.
GOOD_CONFIG = """experiment: e
dataset:
  blobs: {samples: 100, features: 2, centers: 4}
clusters: 4
backends: [sequential]
output: {folder}/out
"""


def config(before, after):
    """GOOD_CONFIG with one line changed."""
    assert before in GOOD_CONFIG
    return {"c.yaml": GOOD_CONFIG.replace(before, after)}


OTHER_ISA = "avx2" if platform.machine() in ("aarch64", "arm64") else "neon"
SEQUENTIAL = pathlib.Path(LLOYD).parent / "lloyd_sequential.so"
RUN = ["run", "{folder}/c.yaml"]
FIT = ["fit", "{folder}/x.csv", "-k", "2"]

CASES = [
    # The command line itself.
    ("no subcommand", {}, [], "lloyd: a subcommand is missing: run, report, "),
    ("no subcommand of data", {}, ["data"], "lloyd: a subcommand of 'data' is missing: blobs, "),
    ("unknown subcommand of data", {}, ["data", "blobz"],
     "lloyd: unknown subcommand 'blobz' of 'data' (did you mean 'blobs'?); "),
    ("an argument too many", {}, ["fit", IRIS, "b", "-k", "3"], "lloyd: unexpected argument 'b'; "),
    ("an option without its value", {}, ["fit", IRIS, "-k"], "lloyd: --clusters needs a value; "),
    ("an option twice", {}, ["fit", IRIS, "-k", "3", "-k", "4"],
     "lloyd: --clusters is given 2 times; at most 1 is possible; "),
    ("a flag with a value", {}, ["fit", IRIS, "-k", "3", "--json=maybe"],
     "lloyd: --json takes no value: it is given or left out; "),
    ("a flag with no", {}, ["run", "c", "--dry-run=no"],
     "lloyd: --dry-run takes no value: it is given or left out; "),
    ("a value of 100 kB", {}, ["fit", IRIS, "-k", "x" * 100_000],
     "lloyd: --clusters: '" + "x" * 200 + "...' is not "),
    ("a value of 100 kB behind an equals sign", {}, ["compare", "x", "--format=" + "y" * 100_000],
     "lloyd: --format: '" + "y" * 200 + "...' is unknown; text, markdown, csv, json are possible; "),
    ("an option of 100 kB", {}, ["fit", IRIS, "--" + "z" * 100_000],
     "lloyd: unknown option '--" + "z" * 198 + "...' (known: "),
    ("two options that exclude each other", {}, ["run", "c", "--resume", "--dry-run"],
     "lloyd: --dry-run and --resume cannot be given together; "),
    ("an option that needs another", {}, ["run", "c", "--retry-failed"],
     "lloyd: --retry-failed needs --resume too; "),
    ("a word of a list", {}, ["compare", "x", "--format", "y"],
     "lloyd: --format: 'y' is unknown; text, markdown, csv, json are possible; "),
    ("a plugin folder that is not there", {}, ["--plugin-dir", "nowhere", "backends"],
     "lloyd: --plugin-dir: 'nowhere' does not exist; "),
    ("unknown subcommand", {}, ["fitt"], "fitt"),
    ("unknown option", {}, ["fit", IRIS, "--clusterz", "3"],
     "lloyd: unknown option '--clusterz' (did you mean '--clusters'?); "),
    ("missing data", {}, ["fit"], "lloyd: DATA is missing; "),
    ("a model that is no JSON", {"m.json": '{"a": 1,\n oops}'}, ["predict", "{folder}/m.json", IRIS],
     "m.json: is not a model file: it is not JSON: unexpected 'o' at byte 11"),
    ("a model that is cut", {"m.json": '{"a": [1'}, ["predict", "{folder}/m.json", IRIS],
     "it is not JSON: it ends after 8 bytes, before its value does"),
    ("a model with a number beyond float64", {"m.json": '{"a": 1e999}'}, ["predict", "{folder}/m.json", IRIS],
     "a number is beyond the range of float64"),
    ("a record that is no JSON", {"records.jsonl": "nope\n"}, ["report", "{folder}"],
     "records.jsonl:1: it is not JSON: unexpected 'o' at byte 2; sed -i 1d {folder}/records.jsonl removes the line"),
    ("an experiment that is not there", {}, ["run", "{folder}/none.yaml"],
     "none.yaml: cannot be opened: No such file or directory"),
    ("an experiment in place of records", {"c.yaml": GOOD_CONFIG}, ["report", "{folder}/c.yaml"],
     "c.yaml is the YAML file of an experiment, not records; 'lloyd run' writes these into the file records.jsonl of its "
     "output folder"),
    ("data in place of records", {"x.csv": "1,2\n3,4\n"}, ["history", "{folder}/x.csv"], "x.csv is a data file, not records; "),
    ("an array in place of records", {"x.npy": "\x93NUMPY"}, ["compare", "{folder}/x.npy"],
     "x.npy is a data file, not records; "),
    ("a model in place of records", {"m.json": '{"format": "lloyd-model"}\n'}, ["report", "{folder}/m.json"],
     "m.json is a .json file, as models of 'lloyd fit' are, not records; "),
    ("a page in place of records", {"r.html": "<!DOCTYPE html>"}, ["report", "{folder}/r.html"],
     "r.html is a page of 'lloyd report', not records; "),
    ("an empty experiment in place of records", {"c.yaml": ""}, ["history", "{folder}/c.yaml"],
     "c.yaml is the YAML file of an experiment, not records; "),
    ("data in place of an experiment", {"x.csv": "1,2\n3,4\n"}, ["run", "{folder}/x.csv"],
     "x.csv is a data file, not the YAML file of an experiment; 'dataset: {file: ...}' names it in one"),
    ("records in place of an experiment", {"r.jsonl": "{}\n"}, ["run", "{folder}/r.jsonl"],
     "r.jsonl is a file of records, not the YAML file of an experiment"),
    ("an experiment in place of a model", {"c.yaml": GOOD_CONFIG}, ["predict", "{folder}/c.yaml", IRIS],
     "c.yaml, the YAML file of an experiment; a model is the .json file that 'lloyd fit --model FILE.json' writes, or "
     "a data file of centroids"),
    ("labels in place of a model", {"labels.csv": "label\n0\n1\n"}, ["predict", "{folder}/labels.csv", IRIS],
     "labels.csv is a data file, whose 2 rows were taken as centroids"),
    ("k is a word", {}, ["fit", IRIS, "-k", "three"], "three"),
    ("k is 0", {}, ["fit", IRIS, "-k", "0"], "'0' is not a whole number from 1"),
    ("k beyond n", {}, ["fit", IRIS, "-k", "151"], "lloyd: -k is 151; it must be 1 to 150, the number of samples in iris.csv"),
    ("the default k beyond n", {"x.csv": "1,2\n"}, ["fit", "{folder}/x.csv"],
     "lloyd: -k is 8; it must be 1 to 1, the number of samples in x.csv"),
    ("initial centroids the other way round", {"c.csv": "1,2\n3,4\n5,6\n7,8\n"},
     ["fit", IRIS, "-k", "2", "--seeding", "{folder}/c.csv"],
     "c.csv has 4 rows and 2 columns, but 2 centroids are needed"),
    ("restarts 0", {}, ["fit", IRIS, "-k", "3", "--restarts", "0"], "'0' is not a whole number of at least 1"),
    ("negative tolerance", {}, ["fit", IRIS, "-k", "3", "--tolerance", "-1"], "tolerance is -1"),
    ("tolerance nan", {}, ["fit", IRIS, "-k", "3", "--tolerance", "nan"], "tolerance is nan"),
    ("tolerance is a word", {}, ["fit", IRIS, "-k", "3", "--tolerance", "abc"],
     "--tolerance: 'abc' is not a number, such as 0.5 or 1e-4"),
    ("tolerance with more behind", {}, ["fit", IRIS, "-k", "3", "--tolerance", "1e-4x"],
     "'1e-4x' is not a number"),
    ("tolerance beyond float64", {}, ["fit", IRIS, "-k", "3", "--tolerance", "1e400"],
     "'1e400' is beyond the range of a float64 number"),
    ("infinite tolerance", {}, ["fit", IRIS, "-k", "3", "--tolerance", "inf"], "tolerance is inf"),
    ("oversampling is a word", {}, ["fit", IRIS, "-k", "3", "--seeding", "k-means||", "--oversampling",
                                    "two"], "--oversampling: 'two' is not a number"),
    ("oversampling nan", {}, ["fit", IRIS, "-k", "3", "--seeding", "k-means||", "--oversampling", "nan"],
     "oversampling is nan"),
    ("a hexadecimal deviation", {}, ["data", "blobs", "{folder}/b.npy", "--std", "0x10"],
     "--std: '0x10' is not a number"),
    ("a deviation of nan", {}, ["data", "blobs", "{folder}/b.npy", "--std", "nan"], "std is nan"),
    ("an infinite box", {}, ["data", "blobs", "{folder}/b.npy", "--box", "inf"], "box is inf"),
    ("a negative box", {}, ["data", "blobs", "{folder}/b.npy", "--box", "-1"], "box is -1"),
    ("blobs into no folder", {}, ["data", "blobs", "{folder}/no/b.npy"],
     "no/b.npy: cannot write the file: {folder}/no is not a folder"),
    ("blobs into a file", {"x.csv": "1,2\n"}, ["data", "blobs", "{folder}/x.csv/b.npy"],
     "x.csv/b.npy: cannot write the file: {folder}/x.csv is not a folder"),
    ("conversion into no folder", {}, ["data", "convert", IRIS, "{folder}/no/b.csv"],
     "no/b.csv: cannot write the file: {folder}/no is not a folder"),
    ("labels into no folder", {"m.csv": "1,2,3,4\n"},
     ["predict", "{folder}/m.csv", IRIS, "--labels", "{folder}/no/l.csv"],
     "no/l.csv: cannot write the file: {folder}/no is not a folder"),
    ("labels of unknown extension", {"m.csv": "1,2,3,4\n"},
     ["predict", "{folder}/m.csv", IRIS, "--labels", "{folder}/l.txt"], "'.txt' is unknown"),
    ("a name that is too long", {}, ["fit", IRIS, "-k", "3", "--labels", "{folder}/" + "l" * 5000 + ".csv"],
     "cannot write the file: File name too long"),
    ("a plugin into a file", {"x.csv": "1,2\n"}, ["new-plugin", "mine", "--dir", "{folder}/x.csv/mine"],
     "x.csv/mine"),
    ("instructions of another processor", {},
     ["fit", IRIS, "-k", "3", "-b", "openmp", "-p", f"isa={OTHER_ISA}"], OTHER_ISA),
    ("labels by instructions of another processor", {"m.csv": "1,2,3,4\n"},
     ["predict", "{folder}/m.csv", IRIS, "-b", "openmp", "-p", f"isa={OTHER_ISA}"], OTHER_ISA),
    ("no iterations", {}, ["fit", IRIS, "-k", "3", "--max-iterations", "0"], "'0' is not a whole number"),
    ("octal k", {}, ["fit", IRIS, "-k", "010"], "'010' is not a whole number"),
    ("negative seed", {}, ["fit", IRIS, "-k", "3", "--seed", "-1"], "'-1' is not a whole number"),
    ("parameter given twice", {}, ["fit", IRIS, "-k", "3", "-b", "openmp", "-p", "threads=1", "-p",
                                   "threads=2"], "'threads' twice"),
    ("plugin folder that is none", {}, ["--plugin-dir", "/nonexistent", "backends"], "/nonexistent"),
    ("output of unknown extension", {}, ["fit", IRIS, "-k", "3", "--labels", "{folder}/l.txt"],
     "'.txt' is unknown"),
    ("output in no folder", {}, ["fit", IRIS, "-k", "3", "--model", "{folder}/no/m.json"],
     "m.json: cannot write the file: {folder}/no is not a folder"),
    ("two outputs in one file", {}, ["fit", IRIS, "-k", "3", "--labels", "{folder}/a.csv",
                                     "--centroids", "{folder}/a.csv"], "two outputs"),
    ("unknown backend", {}, ["fit", IRIS, "-k", "3", "-b", "openmpi"], "did you mean 'openmp'"),
    ("unknown parameter", {}, ["fit", IRIS, "-k", "3", "-b", "openmp", "-p", "thread=2"],
     "did you mean 'threads'"),
    ("parameter of wrong type", {}, ["fit", IRIS, "-k", "3", "-b", "openmp", "-p", "threads=two"],
     "'two'"),
    ("parameter with a leading zero", {}, ["fit", IRIS, "-k", "3", "-b", "openmp", "-p", "threads=010"],
     "'010', which has leading zeros; it takes"),
    ("tolerance with a leading zero", {}, ["fit", IRIS, "-k", "3", "--tolerance", "01.5"],
     "'01.5' is not a number"),
    ("parameter out of range", {}, ["fit", IRIS, "-k", "3", "-b", "openmp", "-p", "threads=-1"],
     "0 to 1024"),
    ("parameter of unknown choice", {}, ["fit", IRIS, "-k", "3", "-b", "sequential", "-p",
                                         "layout=sao"], "did you mean 'soa'"),
    ("parameter without value", {}, ["fit", IRIS, "-k", "3", "-p", "threads"], "NAME=VALUE"),
    ("unknown seeding", {}, ["fit", IRIS, "-k", "3", "--seeding", "kmeans++"],
     "did you mean 'k-means++'"),
    ("options of another seeding", {}, ["fit", IRIS, "-k", "3", "--oversampling", "2"],
     "--oversampling is for --seeding k-means||, not k-means++"),
    ("rounds of another seeding", {}, ["fit", IRIS, "-k", "3", "--seeding", "first", "--rounds",
                                       "2"], "--rounds is for --seeding k-means||, not first"),
    ("oversampling of nothing", {}, ["fit", IRIS, "-k", "3", "--seeding", "k-means||",
                                     "--oversampling", "0"], "oversampling is 0"),
    ("no rounds", {}, ["fit", IRIS, "-k", "3", "--seeding", "k-means||", "--rounds", "0"], "'0'"),
    ("unknown policy", {}, ["fit", IRIS, "-k", "3", "--empty-clusters", "drop"], "relocate"),
    ("unknown dtype", {}, ["fit", IRIS, "-k", "3", "--dtype", "float16"], "float32"),
    ("unknown column", {}, ["fit", IRIS, "-k", "3", "--columns", "petal_lenght"], "petal_lenght"),
    ("empty delimiter", {}, ["fit", IRIS, "-k", "3", "--delimiter", ""],
     "--delimiter needs a value, not an empty text"),
    ("empty backend", {}, ["fit", IRIS, "-k", "3", "-b", ""], "--backend needs a value"),
    ("empty columns", {}, ["fit", IRIS, "-k", "3", "--columns", ""], "--columns needs a value"),
    ("empty output", {}, ["run", "x.yaml", "--output", ""], "--output needs a value"),
    ("empty run", {}, ["report", "x.jsonl", "--run", ""], "--run needs a value"),
    ("empty dtype", {}, ["data", "info", IRIS, "--dtype", ""], "--dtype needs a value"),
    ("long delimiter", {}, ["fit", IRIS, "-k", "3", "--delimiter", "ab"], "one character"),
    ("initial centroids of another shape", {"i.csv": "1,2\n3,4\n"},
     ["fit", IRIS, "-k", "2", "--init", "{folder}/i.csv"], "i.csv"),
    # Data files.
    ("missing file", {}, FIT, "x.csv"),
    ("a folder", {}, ["fit", "{folder}", "-k", "2"], "{folder}"),
    ("unknown extension", {"x.parquet": "PAR1"}, ["fit", "{folder}/x.parquet", "-k", "2"],
     "'.parquet' is unknown"),
    ("text of an unknown extension", {"x.dat": "1,2\n"}, ["fit", "{folder}/x.dat", "-k", "1"],
     "are known; if it is text, rename it to .csv, or give it as standard input: - < FILE"),
    ("Parquet", {"x.parquet": "PAR1"}, ["fit", "{folder}/x.parquet", "-k", "2"],
     "; python3 -c 'import pandas, sys; pandas.read_parquet(sys.argv[1]).to_csv(sys.argv[2], index=False)' "
     "{folder}/x.parquet {folder}/x.csv converts it"),
    ("empty table", {"x.csv": ""}, FIT, "x.csv"),
    ("header only", {"x.csv": "a,b\n"}, FIT, "x.csv"),
    ("word in a cell", {"x.csv": "a,b\n1,2\n3,x\n"}, FIT, "x.csv, line 3, column 2"),
    ("empty cell", {"x.csv": "1,2\n3,\n"}, FIT, "x.csv, line 2, column 2"),
    ("short row", {"x.csv": "1,2\n3\n"}, FIT, "x.csv, line 2"),
    ("NaN in a cell", {"x.csv": "1,2\nnan,4\n"}, FIT, "x.csv, line 2, column 1"),
    ("infinity in a cell", {"x.csv": "1,2\n3,inf\n"}, FIT, "x.csv, line 2, column 2"),
    ("beyond float32", {"x.csv": "1,2\n3,1e300\n"}, FIT, "x.csv, line 2, column 2"),
    ("not an .npy", {"x.npy": "hello"}, ["fit", "{folder}/x.npy", "-k", "2"], "x.npy"),
    ("truncated .npy", {"x.npy": b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, "
                                 b"'shape': (100, 2), }" + b" " * 57 + b"\n1234"},
     ["fit", "{folder}/x.npy", "-k", "2"], "x.npy"),
    ("unwritable output", {}, ["fit", IRIS, "-k", "2", "--output", "/proc/nothing"], "/proc/nothing"),
    # Models.
    ("model that is no JSON", {"m.json": "{"}, ["predict", "{folder}/m.json", IRIS], "m.json"),
    ("model of another format", {"m.json": "{}"}, ["predict", "{folder}/m.json", IRIS],
     "not a model file"),
    ("model of a later version", {"m.json": '{"format": "lloyd-model", "version": 9}'},
     ["predict", "{folder}/m.json", IRIS], "version 9"),
    ("model with a short centroid",
     {"m.json": '{"format": "lloyd-model", "version": 1, "clusters": 1, "features": 4, '
                '"centroids": [[1, 2]]}'}, ["predict", "{folder}/m.json", IRIS], "centroid 0"),
    ("model for other data",
     {"m.json": '{"format": "lloyd-model", "version": 1, "clusters": 1, "features": 2, '
                '"centroids": [[1, 2]]}'}, ["predict", "{folder}/m.json", IRIS], "4 features"),
    # Plugins.
    ("verify of nothing", {}, ["verify", "{folder}/p.so"], "p.so"),
    ("verify of no case", {}, ["verify", SEQUENTIAL, "--case", "nothing*"], "'nothing*'"),
    ("verify of a case and none", {}, ["verify", SEQUENTIAL, "--case", "stop/*", "--case", "nothing*"], "'nothing*'"),
    ("verify without time", {}, ["verify", SEQUENTIAL, "--timeout", "0"], "'0'"),
    # Experiments that the unit tests do not cover in process.
    ("missing config", {}, RUN, "c.yaml"),
    ("YAML that ends early", {"c.yaml": "backends: [sequential\n"}, RUN, "c.yaml:"),
    ("unknown key", config("clusters: 4", "cluster: 4"), RUN, "c.yaml:4:1"),
    ("wrong type", config("clusters: 4", "clusters: four"), RUN, "c.yaml:4:11"),
    ("out of range", config("clusters: 4", "clusters: 0"), RUN, "c.yaml:4:11"),
    ("unknown backend in a config", config("[sequential]", "[sequentiel]"), RUN, "c.yaml:5:12"),
    ("unknown parameter in a config", config("[sequential]", "[sequential: {layuot: soa}]"), RUN,
     "c.yaml:5:"),
    ("more clusters than samples", config("clusters: 4", "clusters: 101"), RUN, "101"),
    ("missing data file in a config",
     config("  blobs: {samples: 100, features: 2, centers: 4}", "  file: nothing.csv"), RUN,
     "nothing.csv"),
]


class BadInputs(TestCase):
    def test_each_ends_with_status_2_and_one_sentence(self):
        self.assertGreaterEqual(len(CASES), 40)
        for name, files, arguments, expected in CASES:
            with self.subTest(name):
                for file, text in files.items():
                    if isinstance(text, str):
                        text = text.replace("{folder}", str(self.folder))
                    self.write(file, text)
                fill = lambda text: str(text).replace("{folder}", str(self.folder))
                done = run(*map(fill, arguments), status=2)
                self.assertEqual(done.stdout, "")
                self.assertIn(fill(expected), done.stderr)
                # One sentence; a note on the chosen backend may precede it.
                lines = [line for line in done.stderr.splitlines() if not line.startswith("using backend '")]
                self.assertEqual(len(lines), 1, done.stderr)
                for file in files:
                    (self.folder / file).unlink()


if __name__ == "__main__":
    unittest.main()
