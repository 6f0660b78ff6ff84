"""Data that gives a meaningless clustering without being invalid, and the options that help."""

import json
import math
import pathlib
import re
import statistics
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import IRIS, TestCase, run, run_json

X = [((7 * i) % 30) / 8 + (i % 3) * 10 for i in range(30)]
Y = [((11 * i) % 30) / 16 - (i % 3) * 5 for i in range(30)]
UNORDERED = [(17 * i) % 30 for i in range(30)]


def table(header, *columns):
    lines = [header] if header else []
    return "\n".join(lines + [",".join(map(str, row)) for row in zip(*columns)]) + "\n"


# Name, text, start and end of the only warning, and the options after which there is none.
GUARDS = [
    ("rows counted from 0", table("", range(30), X, Y), "the first column counts the rows: 0, 1, 2, ...",
     "--drop-columns 0 leaves it out", ["--drop-columns", "0"]),
    ("rows counted from 1", table("nr,x,y", range(1, 31), X, Y), "the first column counts the rows: 1, 2, 3, ...",
     "--drop-columns nr leaves it out", ["--columns", "x,y"]),
    ("a quoted empty name", table('"",x,y', X, X, Y), "the first column has no name, as row numbers often have none",
     "--drop-columns 0 leaves it out", ["--drop-columns", "0"]),
    ("an ascending column", table("x,order,y", X, range(500, 4000, 100)[:30], Y), "'order' looks like an identifier",
     "--drop-columns order leaves it out", ["--drop-columns", "order"]),
    ("an identifier by name", table("x,customer_id,y", X, UNORDERED, Y), "'customer_id' looks like an identifier",
     "--drop-columns customer_id leaves it out", ["--drop-columns", "1"]),
    ("numbers of classes", table("x,y,kind", X, Y, [i % 3 for i in range(30)]),
     "the last column, 'kind', holds only integers from 0 to 2, as classes do",
     "--label-column kind compares the clusters with them, and --drop-columns kind leaves it out",
     ["--label-column", "kind"]),
    ("numbers of classes beside indicators", table("x,sex,y,kind", X, [i % 2 for i in UNORDERED], Y, [i % 3 for i in range(30)]),
     "the last column, 'kind', holds only integers from 0 to 2, as classes do",
     "--label-column kind compares the clusters with them, and --drop-columns kind leaves it out",
     ["--label-column", "kind"]),
    ("a target beside indicators", table("x,sex,y,target", X, [i % 2 for i in UNORDERED], Y, [i // 4 % 2 for i in range(30)]),
     "'target' seems to hold classes: its values are integers from 0 to 1",
     "--label-column target compares the clusters with them, and --drop-columns target leaves it out",
     ["--label-column", "target"]),
    ("account numbers", table("x,account,y", X, [10**8 + (173 * i) % 30 * 10**6 for i in range(30)], Y),
     "'account' looks like an identifier", "--drop-columns account leaves it out", ["--drop-columns", "account"]),
    ("neighbours that float32 makes equal", table("x,nr,y", X, [10**9 + 20 * i + i // 15 * 10**6 for i in range(30)], Y),
     "'nr' looks like an identifier or a time: its integers have more digits than float32 keeps",
     "if it is a time, --dtype float64 keeps its digits; if it is an identifier, --drop-columns nr leaves it out", ["--drop-columns", "nr"]),
    ("times in seconds", table("x,time,y", X, range(1700000000, 1700000600, 20), Y),
     "'time' looks like an identifier or a time: its integers have more digits than float32 keeps",
     "if it is a time, --dtype float64 keeps its digits; if it is an identifier, --drop-columns time leaves it out", ["--drop-columns", "time"]),
    ("times with fractions", table("x,time,y", X, [1700000001.029 + 10.5 * i for i in range(30)], Y),
     "rounding to float32 changes the values of 'time'", "--dtype float64 keeps the values", ["--drop-columns", "time"]),
    ("classes without a name", table("", [1 + i % 3 for i in UNORDERED], X, Y),
     "the first column holds only integers from 1 to 3, as classes do",
     "--label-column 0 compares the clusters with them, and --drop-columns 0 leaves it out", ["--label-column", "0"]),
    ("a header of years", table("2021,2022", X, Y), "the first row, 2021, 2022, looks like a header",
     "--header takes it as names, --no-header says that it is a sample", ["--header"]),
    ("a header of decades", table("1990,2000,2010", X, X, Y), "the first row, 1990, 2000, ..., looks like a header",
     "--header takes it as names, --no-header says that it is a sample", ["--no-header"]),
    ("a header of descending years", table("2021,2020,2019", X, X, Y), "the first row, 2021, 2020, ..., looks like a header",
     "--header takes it as names, --no-header says that it is a sample", ["--no-header"]),
    ("a header of hours", table("1,2,3,4", X, Y, Y, X), "the first row, 1, 2, ..., looks like a header",
     "--header takes it as names, --no-header says that it is a sample", ["--header"]),
    ("a header of wavelengths", table("400,400.5,401", X, X, Y), "the first row, 400, 400.5, ..., looks like a header",
     "--header takes it as names, --no-header says that it is a sample", ["--header"]),
    ("a header of one year", table("2019", X), "the first row, 2019, looks like a header",
     "--header takes it as names, --no-header says that it is a sample", ["--header"]),
    ("classes in the first column", table("Class,x,y", [i % 3 for i in UNORDERED], X, Y),
     "'Class' seems to hold classes: its values are integers from 0 to 2",
     "--label-column Class compares the clusters with them, and --drop-columns Class leaves it out",
     ["--label-column", "Class"]),
    ("different scales", table("x,y", X, [4096 * y for y in Y]), "the standard deviation of 'x' is 8.3",
     "--standardize gives every feature the standard deviation 1", ["--standardize"]),
    ("different scales of one name", table("x,x", X, [4096 * y for y in Y]), "the standard deviation of column 0 is 8.3",
     "so column 1 decides the clusters; --standardize gives every feature the standard deviation 1", ["--standardize"]),
]


# Columns with a value that is no sentinel: too rare, too near, or one of a few values.
NO_SENTINELS = [
    ("twice", [*range(28), -999, -999]),
    ("near", [*range(27), 40, 40, 40]),
    ("zero beside small values", [*range(5, 32), 0, 0, 0]),
    ("mostly zero", [*range(1000, 1014), *[0] * 16]),
    ("not a usual marker", [*range(20, 47), 2, 2, 2]),
    ("few values", [i % 4 for i in range(27)] + [98] * 3),
    ("a rating from 1 to 9", [1 + i % 9 for i in range(30)]),
    ("a rating up to 9 without 8", [1 + i % 7 for i in range(27)] + [9] * 3),
    ("a value of -1 beside 0", [i % 3 for i in range(27)] + [-1] * 3),
    ("two values", [1] * 20 + [-1] * 10),
    ("multiples", [3 * (i % 4) for i in range(30)]),
    ("a code twice", [1 + i % 5 for i in range(28)] + [99] * 2),
    ("mostly a code", [i % 2 for i in range(14)] + [9] * 16),
    ("few fractions", [(1 + i % 3) / 2 for i in range(27)] + [9] * 3),
    ("repeated extremes", [i % 15 for i in range(30)]),
    ("far but different", [*range(27), 900, 901, 902]),
]


class Sentinels(TestCase):
    def warnings(self, values, *options):
        # Mixed, so that the column does not ascend.
        mixed = [values[7 * i % 30] for i in range(30)]
        lines = run("fit", self.write("x.csv", table("x,y", mixed, Y)), "-k", "2", *options).stderr.splitlines()
        return [line for line in lines if "missing value" in line]

    def test_are_warned_of_once(self):
        for value in (-999, 9999, -9999.5):
            with self.subTest(value):
                found = self.warnings([*range(27)] + [value] * 3)
                self.assertEqual(len(found), 1, found)
                self.assertIn(f"'x' is {value} in 3 rows and from 0 to 26 in the others, so {value} may stand", found[0])
                self.assertTrue(found[0].endswith(f"--missing={value} with --drop-missing leaves such rows out"), found)
                self.assertEqual(len(self.warnings([*range(27)] + [value] * 3, "--columns", "x", "--standardize")), 1)

    def test_usual_markers_may_be_nearer(self):
        for value in (0, -1, 99):
            with self.subTest(value):
                found = self.warnings([*range(30, 57)] + [value] * 3)
                self.assertEqual(len(found), 1, found)
                self.assertIn(f"'x' is {value} in 3 rows and from 30 to 56 in the others, so {value} may stand for a "
                              f"missing value; --missing={value} with --drop-missing leaves such rows out", found[0])

    def test_codes_among_few_integers(self):
        for others, code in (((1, 2, 3, 4, 5), 99), ((0, 1), 9), ((1, 2, 3, 4, 5, 6), 9), ((0, 1), -9), ((1, 2, 3), -1),
                             ((0, 1), 999), ((0, 10, 20), 99), (range(1, 10), 99)):
            with self.subTest(code=code, others=others):
                found = self.warnings([others[i % len(others)] for i in range(27)] + [code] * 3)
                self.assertEqual(len(found), 1, found)
                self.assertIn(f"'x' is {code} in 3 rows and from {others[0]} to {others[-1]} in the others, so {code} may "
                              "stand for a missing value", found[0])

    def test_codes_among_few_integers_are_looked_for_in_all_rows(self):
        def column(*late):
            return [late[i % len(late)] if i > 2000 and i % 7 == 0 else 1 + 7919 * i % 5 for i in range(6000)]
        spread = [7919 * i % 601 / 8 for i in range(6000)]
        self.assertEqual(self.sentinel_warnings(column(9), spread), [
            "'a' is 9 in 572 rows and from 1 to 5 in the others, so 9 may stand for a missing value; --missing=9 with "
            "--drop-missing leaves such rows out, but also those with 9 in 'b', and --drop-columns a leaves the column out"])
        self.assertEqual(self.sentinel_warnings(column(9, 7), spread), [])

    def test_the_same_value_in_another_column_is_named(self):
        rows = [f"{0 if i % 9 == 0 else 30 + 7 * i % 30},{i % 3}" for i in range(60)]
        said = run("fit", self.write("x.csv", "bmi,children\n" + "\n".join(rows) + "\n"), "-k", "2").stderr
        self.assertIn("so 0 may stand for a missing value; --missing=0 with --drop-missing leaves such rows out, but also "
                      "those with 0 in 'children', and --drop-columns bmi leaves the column out\n", said)

    def test_the_advice_fits_chosen_columns(self):
        rows = [f"{0 if i % 9 == 0 else 30 + 7 * i % 30},{i % 3}" for i in range(60)]
        file = self.write("x.csv", "bmi,children\n" + "\n".join(rows) + "\n")
        said = run("fit", file, "-k", "2", "--columns", "bmi,children").stderr
        self.assertIn("leaves such rows out, but also those with 0 in 'children'; to keep them, leave bmi out of "
                      "--columns\n", said)

    def sentinel_warnings(self, *columns, file="rows.csv", options=()):
        path = self.write(file, table(",".join("abcdefgh"[:len(columns)]), *columns))
        lines = run("fit", path, "-k", "2", *options).stderr.splitlines()
        return [line.removeprefix(f"lloyd: warning: {path}: ") for line in lines if "missing value" in line]

    def test_all_rows_are_counted(self):
        rows = 6000
        late = [-999 if i >= 2000 and i % 10 == 0 else 7919 * i % 601 for i in range(rows)]
        rare = [9999 if i % 500 == 499 else 7919 * i % 907 / 8 for i in range(rows)]
        self.assertEqual(self.sentinel_warnings(late, rare), [
            "'a' is -999 in 400 rows and from 0 to 600 in the others, so -999 may stand for a missing value; "
            "--missing=-999 with --drop-missing leaves such rows out",
            "'b' is 9999 in 12 rows and from 0 to 113.25 in the others, so 9999 may stand for a missing value; "
            "--missing=9999 with --drop-missing leaves such rows out"])

    def test_all_columns_with_the_value_are_named(self):
        columns = [[-999 if i % p == 0 else 31 * i % 101 + p for i in range(600)] for p in (7, 11, 13)]
        count = [600 // p + 1 for p in (7, 11, 13)]
        self.assertEqual(self.sentinel_warnings(*columns), [
            f"'a' is -999 in {count[0]} rows and from 7 to 107 in the others, so -999 may stand for a missing value, also in "
            f"'b' ({count[1]}) and 'c' ({count[2]}); --missing=-999 with --drop-missing leaves such rows out"])

    def test_rows_that_are_not_in_memory_are_not_counted(self):
        rows = [struct.pack("<8f", -999 if i % 10 == 0 else 31 * i % 101, *[p * i % 97 for p in range(2, 9)])
                for i in range(1000)]
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (301000, 8), }".ljust(117) + "\n"
        file = self.folder / "x.npy"
        file.write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode() + b"".join(rows) * 301)
        for limit, count in (("36MiB", "100 of the first 1000 rows"), ("1GiB", "30100 rows")):
            said = run("fit", file, "-k", "1", "--max-iterations", "1", "--memory-limit", limit).stderr
            self.assertIn(f"column 0 is -999 in {count} and from 0 to 100 in the others", said)

    def test_predict_warns_of_them(self):
        def sentinel_warnings(*arguments):
            lines = run("predict", *arguments).stderr.splitlines()
            return [line.removeprefix(f"lloyd: warning: {arguments[1]}: ") for line in lines if "missing value" in line]
        values = [*range(27), 9999, 9999, 9999]
        text = self.write("x.csv", table("x,y", [values[7 * i % 30] for i in range(30)], Y))
        binary, long = self.folder / "x.npy", self.folder / "long.npy"
        run("data", "convert", text, binary)
        run("data", "convert", self.write("long.csv", table("", [values[7 * i % 30] for i in range(1500)],
                                                            [i % 7 for i in range(1500)])), long)
        ordinary = self.write("ordinary.csv", table("x,y", X, Y))
        found = "is 9999 in 3 rows and from 0 to 26 in the others, so 9999 may stand for a missing value; "
        remedy = "--drop-missing leaves such rows out if the cells are NaN"
        model = self.folder / "model.json"
        for options in ([], ["--standardize"]):
            with self.subTest(options):
                run("fit", ordinary, "-k", "2", *options, "--model", model)
                self.assertEqual(sentinel_warnings(model, ordinary), [])
                self.assertEqual(sentinel_warnings(model, text),
                                 [f"'x' {found}--missing=9999 with --drop-missing leaves such rows out"])
                self.assertEqual(sentinel_warnings(model, binary), [f"column 0 {found}{remedy}"])
                rows = "100 of the first 1000 rows" if options else "150 rows"
                self.assertEqual(sentinel_warnings(model, long), [f"column 0 {found}{remedy}".replace("3 rows", rows)])

    def test_predict_does_not_advise_to_leave_a_feature_out(self):
        file = self.write("x.csv", table("x,y", [0 if i % 9 == 0 else 30 + 7 * i % 30 for i in range(60)],
                                         [i % 3 for i in range(60)]))
        said = run("predict", self.write("c.csv", "x,y\n30,1\n50,1\n"), file).stderr
        self.assertIn("--missing=0 with --drop-missing leaves such rows out, but also those with 0 in 'y'\n", said)

    def test_values_with_the_period_of_the_inspected_rows_are_found(self):
        """Every sixth of 6000 rows, of which 1000 are inspected."""
        columns = [[-1 if i % 6 == place else 100 + 7919 * i % 601 / 8 for i in range(6000)] for place in range(6)]
        self.assertEqual(self.sentinel_warnings(*columns), [
            "'a' is -1 in 1000 rows and from 100 to 175 in the others, so -1 may stand for a missing value, also in "
            "'b' (1000), 'c' (1000), 'd' (1000), 'e' (1000) and 'f' (1000); --missing=-1 with --drop-missing leaves such "
            "rows out"])

    def test_ordinary_columns_of_many_rows_are_not_warned_of(self):
        rows = range(4000)
        columns = [[min(int(-30 * math.log((7919 * i % 4000 + 0.5) / 4000)), 200) for i in rows],  # counts with zeros
                   [7919 * i % 1501 for i in rows],  # 999 is an ordinary value
                   [7919 * i % 1000 for i in rows],  # 999 is the maximum
                   [7919 * i % 100 - 99 for i in rows],  # -99 is the minimum
                   [0 if i % 3 else 20000 + 7919 * i % 30011 for i in rows],  # mostly zero
                   [max(7919 * i % 401 / 4 - 10, 0) for i in rows]]
        self.assertEqual(self.sentinel_warnings(*columns), [])

    def test_other_values_are_not_warned_of(self):
        for name, values in NO_SENTINELS:
            with self.subTest(name):
                self.assertEqual(self.warnings(values), [])


class Guards(TestCase):
    def warnings(self, *arguments):
        lines = run("fit", *arguments, "-k", "3").stderr.splitlines()
        return [line.removeprefix("lloyd: warning: ") for line in lines if "warning" in line]

    def test_each_warns_once_and_names_the_option_that_helps(self):
        for name, text, begin, end, options in GUARDS:
            with self.subTest(name):
                file = self.write("x.csv", text)
                found = self.warnings(file)
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith(f"{file}: {begin}"), found)
                self.assertTrue(found[0].endswith(end), found)
                self.assertEqual(self.warnings(file, *options), [])

    def test_columns_that_are_dropped_already_are_named_too(self):
        file = self.write("x.csv", table("nr,x,customer_id,y", range(30), X, UNORDERED, Y))
        found = self.warnings(file, "--drop-columns", "nr")
        self.assertEqual(found, [f"{file}: 'customer_id' looks like an identifier: its integers are all distinct; "
                                 "--drop-columns nr,customer_id leaves it out"])
        self.assertEqual(self.warnings(file, "--drop-columns", "nr", "--drop-columns", "customer_id"), [])

    def test_features_that_float32_distorts_are_named(self):
        # float32 has a value every 128 units there: two of the times become equal.
        times = self.write("t.csv", "time,x\n1700000000,1\n1700000020,2\n1700000190,4\n")
        known = self.write("known.csv", "time,x\n1700000000,1\n1700000190,2\n")
        sentence = (f"{times}: rounding to float32 changes the values of 'time' by up to 62, while its standard "
                    "deviation is 60.3; --dtype float64 keeps the values")
        model = self.folder / "m.json"
        run("fit", known, "-k", "2", "--dtype", "float64", "--model", model)
        convert = ("data", "convert", times, self.folder / "x.npy")
        for command in (("fit", times, "-k", "2"), ("predict", model, times), ("data", "info", times), convert):
            with self.subTest(command[0]):
                found = [line for line in run(*command).stderr.splitlines() if "warning" in line]
                self.assertEqual(found, ["lloyd: warning: " + sentence])
                self.assertNotIn("warning", run(*command, "--dtype", "float64").stderr)
        equal = self.write("e.csv", "1700000000,1\n1700000001,2\n1700000002,4\n")
        self.assertIn("changes the values of column 0 by up to 2, which makes them equal", run("data", "info", equal).stderr)
        for text in ("0.1,1\n0.1,2\n0.1,4\n", "1000.1,1\n1000.3,2\n1000.7,4\n", "16777215,1\n16777214,2\n16777213,4\n"):
            self.assertNotIn("warning", run("data", "info", self.write("c.csv", text)).stderr)

    def test_an_experiment_names_them(self):
        times = self.write("t.csv", "time,x\n1700000000,1\n1700000020,2\n1700000190,4\n")
        experiment = self.write("e.yaml", f"""
            experiment: times
            dataset: {{file: '{times}', dtype: float32}}
            clusters: 2
            repeats: 1
            backends: [sequential]
            output: {self.folder}/o
        """)
        done = run("run", experiment)
        self.assertEqual(done.stderr.count("rounding to float32 changes the values of 'time'"), 1, done.stderr)
        self.assertIn("'dataset.dtype: float64' keeps the values", done.stderr)
        done = run("run", experiment, "--set", "dataset.dtype=float64")
        self.assertNotIn("rounding", done.stderr)

    def test_an_experiment_warns_once_and_names_the_key_that_helps(self):
        def warnings(file, *arguments):
            config = self.write("e.yaml", f"dataset: {{file: '{file}'}}\nclusters: 3\nrepeats: 1\n"
                                "backends: [sequential]\nsweep: {seeding.seed: [1, 2]}\n")
            lines = run("run", config, "--output", self.folder / "out", *arguments).stderr.splitlines()
            return [line.removeprefix("lloyd: warning: ") for line in lines if "warning" in line]
        for name, text, begin, end, options in GUARDS:
            with self.subTest(name):
                file = self.write("x.csv", text)
                found = warnings(file)
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith(f"{file}: {begin}"), found)
                end = re.sub("--drop-columns (\\w+)", r"'dataset.drop_columns: [\1]'", end)
                end = re.sub("--label-column (\\w+)", r"'dataset.label_column: \1'", end)
                for option, key in (("--standardize", "standardize: true"), ("--header", "header: true"),
                                    ("--no-header", "header: false"), ("--drop-missing", "drop_missing: true"),
                                    ("--dtype float64", "dtype: float64")):
                    end = end.replace(f"{option} ", f"'dataset.{key}' ")
                self.assertTrue(found[0].endswith(end), found)
        outlier = self.write("x.csv", table("x,y", [1e30, *X[1:]], Y))
        self.assertRegex(warnings(outlier, "--set", "dataset.standardize=true")[0],
                         r"'x' has a value, 1e\+30, .*; 'dataset.drop_columns: \[x\]' leaves the feature out$")
        file = self.write("x.csv", GUARDS[4][1])
        self.assertEqual(warnings(file, "--set", "dataset.drop_columns=[customer_id]"), [])
        self.assertEqual(warnings(file, "--set", "dataset.drop_columns=['1']"), [])
        array = self.folder / "x.npy"
        run("data", "convert", self.write("x.csv", GUARDS[0][1]), array)
        self.assertTrue(warnings(array)[0].endswith("'lloyd data convert --drop-columns 0' leaves it out"))

    def test_integers_that_float64_distorts_are_named(self):
        first = 2**60 + 1
        file = self.folder / "i.npy"
        header = "{'descr': '<i8', 'fortran_order': False, 'shape': (3, 2), }".ljust(117) + "\n"
        values = (first, 1, first + 300, 2, first + 700, 4)
        file.write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<6q", *values))
        sentence = (f"{file}: rounding to float64 changes the values of column 0 by up to 67, while its standard "
                    "deviation is 319; float64 holds integers up to 2^53, so subtract a constant from them, such as their "
                    "minimum, before the file is written")
        model = self.folder / "m.json"
        run("fit", file, "-k", "2", "--model", model)
        scaled = self.folder / "scaled.json"
        commands = [("fit", file, "-k", "2", "--standardize", "--model", scaled), ("fit", file, "-k", "2"),
                    ("fit", file, "-k", "2", "--memory-limit", "100MB"), ("predict", model, file),
                    ("predict", scaled, file), ("data", "info", file),
                    ("data", "convert", file, self.folder / "x.csv")]
        for command in commands:
            with self.subTest(command):
                found = [line for line in run(*command).stderr.splitlines() if "rounding" in line]
                self.assertEqual(found, ["lloyd: warning: " + sentence])
        for command in (("fit", file, "-k", "2"), ("data", "info", file)):
            self.assertNotIn("rounding", run(*command, "--columns", "1").stderr)
        experiment = self.write("e.yaml", f"""
            experiment: times
            dataset: {{file: '{file}'}}
            clusters: 2
            repeats: 1
            backends: [sequential]
            output: {self.folder}/o
        """)
        done = run("run", experiment)
        self.assertEqual(done.stderr.count("rounding to float64 changes the values of column 0 by up to 67"), 1, done.stderr)

    def test_integers_that_look_like_identifiers_have_the_sentence_of_other_integers(self):
        file = self.folder / "i.npy"
        header = "{'descr': '<i8', 'fortran_order': False, 'shape': (30, 2), }".ljust(117) + "\n"
        values = [value for i in UNORDERED for value in (10**18 + 37 * i, i % 7 * 3)]
        file.write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<60q", *values))
        described = next(line for line in run("data", "info", file).stderr.splitlines() if "rounding" in line)
        self.assertRegex(described, "rounding to float64 changes the values of column 0 by up to .* before the file is written$")
        self.assertIn(described + "; if it is an identifier, --drop-columns 0 leaves it out",
                      run("fit", file, "-k", "2").stderr.splitlines())

    def test_ordinary_data_is_not_warned_of(self):
        for name, text in (("plain", table("", X, Y)), ("counts", table("a,b", [i % 7 for i in UNORDERED], [i % 9 for i in UNORDERED])),
                           ("ratings", table("a,b,c", *[[(p * i) % 5 for i in range(30)] for p in (1, 2, 3)])),
                           ("years", table("2021,2022", [1990 + 3 * (i % 7) for i in UNORDERED], [2015 + i % 6 for i in UNORDERED])),
                           ("other integers", table("2101,2102", X, Y)), ("unequal steps", table("1990,1995,2010", X, X, Y)),
                           ("few rows", "0,1\n1,3\n2,5\n")):
            with self.subTest(name):
                self.assertEqual(self.warnings(self.write("x.csv", text)), [])
        self.assertEqual(self.warnings(IRIS), [])

    def test_all_commands_warn_of_a_header_of_numbers(self):
        file = self.write("years.csv", table("2019,2020", X, Y))
        model = self.folder / "m.json"
        run("fit", file, "--no-header", "-k", "2", "--model", model)
        for command in (("data", "info", file), ("predict", model, file), ("data", "convert", file, self.folder / "x.npy")):
            with self.subTest(command):
                self.assertIn("the first row, 2019, 2020, looks like a header", run(*command).stderr)
                self.assertNotIn("looks like", run(*command, "--no-header").stderr)

    def test_predict_knows_the_header_of_its_model(self):
        file = self.write("years.csv", table("2019,2020", X, Y))
        model = self.folder / "m.json"
        run("fit", file, "--header", "-k", "2", "--model", model)
        self.assertEqual(len(run("predict", model, file).stdout.splitlines()), 30)
        self.assertEqual(len(run("predict", model, file, "--no-header").stdout.splitlines()), 31)

    def test_the_column_of_classes_is_named(self):
        rows = "".join(f"{i % 2},{i},{'ab'[i % 2]}\n" for i in range(20))
        named = self.write("named.csv", "x,y,kind\n" + rows)
        plain = self.write("plain.csv", rows)
        for file, column, value in ((named, "'kind'", "kind"), (plain, "2", 2)):
            with self.subTest(column):
                for k in ("2", "2..3"):
                    self.assertIn(f"{file.name}: 20 samples of 2 features, float32; classes in column {column}\n",
                                  run("fit", file, "-k", k).stdout)
                self.assertIn(f"each sample has a class, in column {column}\n", run("data", "info", file).stdout)
                self.assertEqual(run_json("data", "info", file)["class_column"], value)
                note = f"lloyd: {file}: the last column, {column}, is taken as classes\n"
                config = "{dataset: {file: '%s'%s}, clusters: 2, backends: [sequential], repeats: 1, output: '%s'}"
                found = self.write("c.yaml", config % (file, "", self.folder / "out"))
                self.assertEqual(run("run", found).stderr.count(note), 1)
                given = self.write("c.yaml", config % (file, ", label_column: 2", self.folder / "out"))
                self.assertNotIn("taken as classes", run("run", given).stderr)
        self.assertNotIn("classes", run("fit", named, "-k", "2", "--columns", "x,y").stdout)
        self.assertIsNone(run_json("data", "info", named, "--columns", "x,y")["class_column"])

    def test_clusters_are_compared_with_two_classes_or_more(self):
        kinds = ["a"] * 2 + ["b"] * 3 + [""] * 25
        several = run("fit", self.write("several.csv", table("x,y,kind", X, Y, kinds)), "-k", "2").stdout
        self.assertIn("adjusted Rand index against the classes of 5 of the 30 samples", several)
        file = self.write("one.csv", table("x,y,kind", X, Y, ["a"] + [""] * 29))
        self.assertIn("classes     fewer than two (29 of the 30 samples have none)", run("fit", file, "-k", "2").stdout)
        self.assertIsNone(run_json("fit", file, "-k", "2")["adjusted_rand_index"])
        self.assertIn("1 of 30 samples has a class", run("data", "info", file).stdout)

    def test_a_missing_value_is_no_class(self):
        for mark in ("", "NA", "?", "null", "nan"):
            with self.subTest(mark):
                kinds = [mark if i % 5 == 0 else "ab"[i % 2] for i in range(30)]
                file = self.write("x.csv", table("x,y,kind", X, Y, kinds))
                for options in ([], ["--drop-missing"], ["--label-column", "kind"]):
                    self.assertIn("against the classes of 24 of the 30 samples",
                                  run("fit", file, "-k", "2", *options).stdout)
                    self.assertIn("24 of 30 samples have a class, in column 'kind'",
                                  run("data", "info", file, *options).stdout)
                run("data", "convert", file, self.folder / "y.csv")
                lines = (self.folder / "y.csv").read_text().splitlines()
                self.assertEqual((lines[0], lines[1].split(",")[2], lines[2].split(",")[2]), ("x,y,kind", '""', "b"))
                self.assertIn("24 of 30 samples have a class", run("data", "info", self.folder / "y.csv").stdout)

    def test_times_are_told_apart(self):
        rows = "".join(f"{1700000000 + i},{i}\n" for i in (0, 1, 2, 600, 601, 602))
        file = self.write("x.csv", "time,x\n" + rows)
        text = run("fit", file, "-k", "2", "--dtype", "float64").stdout
        for centroid in ("1700000001", "1700000601"):
            self.assertRegex(text, rf"\n +[01] +3 +{centroid} +\d+\n")
        self.assertRegex(run("data", "info", file, "--dtype", "float64").stdout,
                         r"\ntime +1700000000 +1700000602 +1700000301 +90000\.7\n")

    def test_other_formats_are_guarded(self):
        text = self.write("x.csv", table("", range(30), X, Y))
        file = self.folder / "x.npy"
        run("data", "convert", text, file)
        for limit in ([], ["--memory-limit", "300MB"]):
            found = self.warnings(file, *limit)
            self.assertEqual(len(found), 1, found)
            self.assertTrue(found[0].endswith("--drop-columns 0 leaves it out"), found)
        dropped = run_json("fit", file, "-k", "3", "--drop-columns", "0")
        self.assertEqual(dropped["dataset"]["features"], 2)
        plain = run_json("fit", self.write("y.csv", table("", X, Y)), "-k", "3")
        self.assertEqual(dropped["dataset"]["fingerprint"], plain["dataset"]["fingerprint"])
        self.assertEqual(dropped["inertia"], run_json("fit", file, "-k", "3", "--columns", "1,2")["inertia"])


DAYS = [f"2023{1 + 7 * i % 12:02d}{1 + 11 * i % 28:02d}" for i in range(30)]
CODES = [f"{(17 * i) % 30 * 3300:05d}" for i in range(30)]
POINTS = ["7" if i % 7 == 0 else f"{1 + i % 9}.{100 + 29 * i}" for i in range(30)]


def with_totals(header, x, y):
    return table(header, [*x, sum(x)], [*y, sum(y)])


# As GUARDS; a few other warnings may follow.
TABLE_GUARDS = [
    ("dates as integers", table("x,date,y", X, DAYS, Y),
     "'date' holds dates as numbers, such as 20230101, whose differences are not days; convert them to days, or "
     "--drop-columns date leaves it out", ["--drop-columns", "date"]),
    ("months as integers", table("x,month,y", X, [f"{2020 + i % 3}{1 + 7 * i % 12:02d}" for i in range(30)], Y),
     "'month' holds months as numbers, such as 202001, whose differences are not months; convert them to months, or "
     "--drop-columns month leaves it out", ["--drop-columns", "month"]),
    ("shuffled numbers of rows", table("x,nr,y", [i % 31 / 2 for i in range(60)], [1 + 17 * i % 60 for i in range(60)],
                                       [i % 7 / 2 for i in range(60)]),
     "'nr' looks like an identifier: its integers are all distinct; --drop-columns nr leaves it out", ["--drop-columns", "nr"]),
    ("postal codes", table("x,postal code,y", X, CODES, Y),
     "'postal code' has numbers with leading zeros, such as 00000, as postal codes and identifiers have; --drop-columns "
     "'postal code' leaves it out", ["--drop-columns", "postal code"]),
    ("points that separate thousands", table("inhabitants,y", POINTS, UNORDERED),
     "'inhabitants' has values such as 2.129 and 7, but none with one or two decimals, so its points may separate "
     "thousands; --thousands . reads them so", ["--thousands", ".", "--drop-columns", "y"]),
    ("a name for the shell", table("x,it's an id", X, UNORDERED),
     "'it's an id' looks like an identifier: its integers are all distinct; --drop-columns \"it's an id\" leaves it out",
     ["--drop-columns", "it's an id"]),
]


class Tables(TestCase):
    def warnings(self, *arguments):
        lines = run("fit", *arguments, "-k", "3").stderr.splitlines()
        return [line.removeprefix("lloyd: warning: ") for line in lines if "warning" in line]

    def test_each_is_warned_of_once(self):
        for name, text, sentence, options in TABLE_GUARDS:
            with self.subTest(name):
                file = self.write("x.csv", text)
                self.assertEqual(self.warnings(file), [f"{file}: {sentence}"])
                self.assertEqual(self.warnings(file, *options), [])

    def test_points_that_separate_thousands_are_named_by_all_commands(self):
        file = self.write("x.csv", table("inhabitants,y", POINTS, UNORDERED))
        self.assertIn("--thousands . reads them so", run("data", "info", file).stderr)
        read = run_json("data", "info", file, "--thousands", ".", "--drop-columns", "y")
        self.assertEqual(read["statistics"][0]["maximum"], 9100 + 29 * 26)

    def test_points_of_all_values_may_separate_thousands_beside_semicolons(self):
        points = [f"{1 + i % 9}.{100 + 29 * i}" for i in range(30)]
        text = table("inhabitants,y", points, UNORDERED)
        file = self.write("x.csv", text.replace(",", ";"))
        sentence = ("'inhabitants' has values such as 1.100, but none with one or two decimals, so its points may separate "
                    "thousands; --thousands . reads them so")
        self.assertEqual([line for line in self.warnings(file, "--delimiter", ";") if "points" in line], [f"{file}: {sentence}"])
        self.assertNotIn("points may", run("fit", self.write("y.csv", text), "-k", "2").stderr)

    def test_a_totals_row_is_named(self):
        x = [round(7 + value, 1) for value in X]
        y = [round(20 + value, 1) for value in Y]
        file = self.write("my file.csv", with_totals("x,y", x, y))
        found = [text for text in self.warnings(file) if "totals" in text]
        self.assertEqual(found, [f"{file}: the last row, sample 30 counted from 0, holds the sums of the others in 'x' and "
                                 f"'y', so it may be a totals row; sed '$d' '{file}' > NEW.csv leaves it out"])
        kinds = [*(["a", "b"] * 15), "Total"]
        named = self.write("n.csv", table("x,kind", [*X, 7], kinds))
        self.assertIn("the last row, sample 30 counted from 0, has the class 'Total'", self.warnings(named)[0])
        for text in (table("x,y", x, y), table("x,y", [*x, sum(x)], [*y, 20.0]), table("x", [i % 2 for i in range(30)])):
            self.assertEqual([text for text in self.warnings(self.write("p.csv", text)) if "totals" in text], [])

    def totals_warnings(self, text, *options, name="t.csv"):
        return [line for line in self.warnings(self.write(name, text), *options) if "totals" in line]

    def test_the_command_for_a_totals_row_fits_blank_lines_below_it(self):
        x = [round(7 + value, 1) for value in X]
        text = with_totals("x,y", x, [round(20 + value, 1) for value in Y])
        for blank, count in (("\n", 1), ("\n \r\n", 2), ("\n\n\t", 3)):
            said = self.totals_warnings(text + blank)
            self.assertTrue(said[0].endswith(f"; head -n -{count + 1} {self.folder / 't.csv'} > NEW.csv leaves it out with "
                                             f"the {count} blank line{'s' * (count > 1)} below it"), said)
            done = subprocess.run(f"head -n -{count + 1} t.csv", shell=True, cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.stdout.splitlines(), text.splitlines()[:-1])
        self.assertTrue(self.totals_warnings(text + "NA,1\n", "--drop-missing")[0].endswith("totals row; leave it out"))

    def test_totals_of_values_before_rounding_are_recognized(self):
        x = [math.exp(5 + math.sin(i)) for i in range(40)]
        y = [math.exp(6 + math.cos(i)) for i in range(40)]
        for name, digits in (("integers", 0), ("tenths", 1), ("cents", 2)):
            with self.subTest(name):
                rounded = [[f"{round(value, digits):.{max(digits, 0)}f}" for value in (*each, sum(each))] for each in (x, y)]
                self.assertEqual(len(self.totals_warnings(table("x,y", *rounded))), 1)
        whole = [[*each, round(sum(each))] for each in (x, y)]
        self.assertEqual(len(self.totals_warnings(table("x,y", *whole))), 1)
        for factor in (1.02, 0.995):
            other = [[*map(round, each), round(sum(each) * factor)] for each in (x, y)]
            self.assertEqual(self.totals_warnings(table("x,y", *other)), [])
        named = table("x,kind", [*X, 7], [*(["a", "b"] * 15), "Total g\u00e9n\u00e9ral"])
        self.assertEqual(len(self.totals_warnings(named)), 1)

    def test_quoted_numbers_that_are_taken_as_classes_are_named(self):
        def quoted(values):
            return self.write("q.csv", table("x,y,age", [i % 7 / 2 for i in range(90)], [i % 11 / 2 for i in range(90)],
                                             [f'"{value}"' for value in values]))
        file = quoted([20 + 7 * i % 30 for i in range(90)])
        self.assertEqual(self.warnings(file), [f"{file}: the last column is taken as classes since its numbers are in "
                                               "quotes, but 30 of the first 90 are distinct; --columns x,y,age reads it as "
                                               "numbers"])
        self.assertEqual(run_json("fit", file, "-k", "2", "--columns", "x,y,age")["dataset"]["features"], 3)
        for values, features in (([1 + i % 3 for i in range(90)], 2), ([f"{i % 4}.5" for i in range(90)], 3),
                                 ([7 * i % 90 for i in range(90)], 3)):
            info = run_json("data", "info", quoted(values))
            self.assertEqual(info["features"], features)

    def test_a_text_that_no_cell_has_is_named(self):
        file = self.write("x.csv", "age,y\nunknown,1\n" + "\n".join(f"{i % 7}.5,{i % 5}.5" for i in range(30)) + "\n")
        repaired = ("--missing", "unknown,unknwon", "--drop-missing")
        sentence = f"lloyd: warning: {file}: --missing has 'unknwon', but no cell of a feature has this text; check its spelling\n"
        model = self.folder / "m.json"
        for command in (("fit", file, "-k", "2", "--model", model), ("predict", model, file), ("data", "info", file),
                        ("data", "convert", file, self.folder / "x.npy")):
            with self.subTest(command[0]):
                self.assertEqual(run(*command, *repaired).stderr.count(sentence), 1)
                self.assertNotIn("spelling", run(*command, "--missing", "unknown", "--drop-missing").stderr)
        config = self.write("e.yaml", f"dataset: {{file: '{file}', drop_missing: true, missing: [unknown, n/k]}}\n"
                            "clusters: 2\nrepeats: 1\nbackends: [sequential]\nsweep: {seeding.seed: [1, 2]}\n")
        said = run("run", config, "--output", self.folder / "out").stderr
        self.assertEqual(said.count("'dataset.missing' has 'n/k', but no cell of a feature has this text"), 1, said)

    def test_more_threads_than_processors_are_named(self):
        said = run("fit", IRIS, "-k", "3", "-b", "openmp", "-p", "threads=1024").stderr
        self.assertRegex(said, r"threads=1024 is more than the \d+ processors? that this process may use, so threads wait "
                         r"for one another; -p threads=\d+ gives each processor one\n")
        self.assertNotIn("one another", run("fit", IRIS, "-k", "3", "-b", "openmp", "-p", "threads=1").stderr)

    def test_ordinary_data_has_no_warning(self):
        def blobs(name, *options):
            run("data", "blobs", self.folder / name, "--samples", "300", *options)
            return self.folder / name
        files = [IRIS, blobs("a.csv"), blobs("b.npy", "--features", "30"), blobs("c.csv", "--features", "1", "--dtype", "float64")]
        files.append(self.write("counts.csv", table("a,b,c", *[[(i * p) % 101 // 10 for i in range(300)] for p in (7, 11, 23)])))
        files.append(self.write("sparse.csv", table("a,b,c", *[[0 if (i * p) % 7 else (i * p) % 13 for i in range(300)]
                                                              for p in (3, 5, 11)])))
        files.append(self.write("distinct.csv", table("a,b", [3 * (7 * i % 300) for i in range(300)],
                                                      [2 + 11 * i % 300 for i in range(300)])))
        files.append(self.write("rounded.csv", table("a,b", *[[f"{(i * p) % 997 / 100:.3f}" for i in range(300)] for p in (7, 11)])))
        files.append(self.write("hours.csv", table("h,m,x", *[[f"{(i * p) % m:02d}" for i in range(300)]
                                                             for p, m in ((7, 24), (11, 60), (13, 90))])))
        for file in files:
            with self.subTest(file.name):
                self.assertEqual(self.warnings(file), [])


# Text of the file, options, the end of the message, and options (or None) with which it is read.
MESSAGES = [
    ("decimal commas in quotes", 'x,y\n"3,14",1\n"2,7",2\n4,3\n', [],
     "line 2, column 1: '3,14' is not a number; --decimal-comma with --delimiter , reads it as 3.14",
     ["--decimal-comma", "--delimiter", ","]),
    ("decimal commas in quotes at the end", 'x,y\n1,"3,14"\n2,"2,7"\n', [],
     "--decimal-comma with --delimiter , reads it as 3.14; --drop-columns y leaves the column out, --label-column y takes "
     "it as classes", ["--decimal-comma", "--delimiter", ","]),
    ("thousands in quotes", 'x,y\n"1,234.5",1\n7,2\n', [],
     "line 2, column 1: '1,234.5' is not a number; --thousands , reads it as 1234.5", ["--thousands", ","]),
    ("apostrophes", "x,y\n1'234,1\n7,2\n", [],
     "line 2, column 1: '1'234' is not a number; --thousands \"'\" reads it as 1234", ["--thousands", "'"]),
    ("two points", "x,y\n1.234,1\n1.234.567,2\n", [],
     "line 3, column 1: '1.234.567' is not a number; --thousands . reads it as 1234567", ["--thousands", "."]),
    ("points and commas", "x;y\n1.234,5;1\n1.234;2\n", ["--decimal-comma"],
     "line 3, column 1: '1.234' has a point, but decimals have commas here; --thousands . reads it as 1234",
     ["--decimal-comma", "--thousands", "."]),
    ("tabs", "x\ty\n1\t2\n3\t4\n", [], "if tabs separate the cells, set --delimiter tab", ["--delimiter", "tab"]),
    ("tabs behind names", "name\tx\ty\nann\t1\t2\nbob\t3\t4\n", [],
     "line 2, column 1: 'ann?1?2' is not a number; if tabs separate the cells, set --delimiter tab",
     ["--delimiter", "tab", "--drop-columns", "name"]),
    ("semicolons behind names", "name;x;y\nann;1;2\nbob;3;4\n", [],
     "line 2, column 1: 'ann;1;2' is not a number; if ';' separates the cells, set --delimiter ';', or --decimal-comma for "
     "cells such as 2,5", ["--delimiter", ";", "--drop-columns", "name"]),
    ("semicolons behind names and decimal commas", "name;x;y\nann;1,5;2,5\nbob;3;4\n", [],
     "line 2, column 1: 'ann;1,5;2,5' is not a number; if ';' separates the cells, set --delimiter ';', or --decimal-comma "
     "for cells such as 2,5", ["--decimal-comma", "--drop-columns", "name"]),
    ("vertical bars behind dates", "day|x\n2024-01-31|2\n2024-02-01|3\n", [],
     "line 2, column 1: '2024-01-31|2' is not a number; if '|' separates the cells, set --delimiter '|'",
     ["--delimiter", "|", "--drop-columns", "day"]),
    ("semicolons behind dates with times", "day;x\n2024-01-31 12:30;2\n2024-02-01 12:30;3\n", [],
     "if ';' separates the cells, set --delimiter ';', or --decimal-comma for cells such as 2,5",
     ["--delimiter", ";", "--drop-columns", "day"]),
    ("semicolons and chosen columns", "x;y\n1;2\n3;4\n", ["--columns", "x"],
     "line 2, column 1: '1;2' is not a number; if ';' separates the cells, set --delimiter ';', or --decimal-comma for "
     "cells such as 2,5", ["--delimiter", ";", "--columns", "x"]),
    ("commas instead of semicolons", "name,x\nann,1\nbob,2\n", ["--delimiter", ";"],
     "line 2, column 1: 'ann,1' is not a number; if ',' separates the cells, set --delimiter ,", ["--drop-columns", "name"]),
    ("blanks of Windows-1252 in thousands", b"x,y\n1\xa0234,1\n12\xa0345\xa0678,2\n", [],
     "--thousands ' ' reads it as 1234; if blanks separate the cells, set --delimiter ' '", ["--thousands", " "]),
    ("thousands with blanks in quotes", 'x,y\n" 1,234.00 ",1\n" 12.50 ",2\n', [],
     "line 2, column 1: '1,234.00' is not a number; --thousands , reads it as 1234.00", ["--thousands", ","]),
    ("dates", "date,x\n2024-01-31,1\n2024-02-01,2\n", [],
     "convert dates, times and ranges to numbers; --drop-columns date leaves the column out", ["--drop-columns", "date"]),
    ("dates with points", "town,date,x\nKiel,13.11.2017,1\nBonn,1.2.18,2\n", ["--drop-columns", "town"],
     "'13.11.2017' is not a number; convert dates, times and ranges to numbers; --drop-columns town,date leaves the column "
     "out", ["--drop-columns", "town,date"]),
    ("dates with points beside text", "x,date,town,y\n1,13.11.2017,Kiel,2\n2,14.11.2017,Bonn,3\n", [],
     "line 2, column 2: '13.11.2017' is not a number; convert dates, times and ranges to numbers; --drop-columns date,town "
     "leaves the columns of text out, --label-column takes one as classes", ["--drop-columns", "date,town"]),
    ("a minus behind a number", "x;y\n12,50-;1\n13;2\n", ["--decimal-comma"],
     "'12,50-' is not a number; a minus behind a number is not read: write -12,50", None),
    ("semicolons above units", "t;temperature\ns;°C\n1,5;2\n2,5;3\n", [],
     "if ';' separates the cells, set --delimiter ';', or --decimal-comma for cells such as 2,5", None),
    ("days without a year", "day,x\n1 Jan,1\n2 Feb,2\n", [],
     "'1 Jan' is not a number; convert dates, times and ranges to numbers; --drop-columns day leaves the column out",
     ["--drop-columns", "day"]),
    ("quarters", "quarter,x\n2023-Q1,1\n2023-Q2,2\n", [],
     "'2023-Q1' is not a number; convert dates, times and ranges to numbers; --drop-columns quarter leaves the column out",
     ["--drop-columns", "quarter"]),
    ("times at the end", "x,time\n1,2024-01-31T12:00:00Z\n2,2024-01-31T13:00:00Z\n", [],
     "convert dates, times and ranges to numbers; --drop-columns time leaves the column out, --label-column time takes it "
     "as classes", ["--drop-columns", "time"]),
    ("infinity", "x,y\n1,2\n-inf,3\n4,5\n", [],
     "'-inf' is not finite; all values must be; --missing=-inf with --drop-missing leaves such rows out",
     ["--missing=-inf", "--drop-missing"]),
    ("blank columns", "x,y,,\n1,2,,\n3,4,,\n", [], "a number is needed; --drop-columns 2,3 leaves out the columns that have "
     "no values", ["--drop-columns", "2,3"]),
    ("yes and no", "x,smoker,y\n1,yes,2\n2,no,3\n", [], "'yes' is not a number; write 1 and 0 for yes and no; --drop-columns "
     "smoker leaves the column out, --label-column smoker takes it as classes", ["--drop-columns", "smoker"]),
    ("a name with blanks", "x,my name,y\n1,ann,2\n2,bob,3\n", [], "--drop-columns 'my name' leaves the column out, "
     "--label-column 'my name' takes it as classes", ["--drop-columns", "my name"]),
    ("texts with blanks", "age,x\n" + "".join(f"{i},1\n" for i in range(9)) + "not known,2\n", [],
     "--missing 'not known' with --drop-missing leaves rows with such texts out, --drop-columns age leaves the column out",
     ["--missing", "not known", "--drop-missing"]),
    ("comments", "x,y\n1,2\n# pause\n3,4\n", [],
     "lines that begin with '#' are rows too: grep -v '^#' removes them", None),
    ("comments above titles", "# one,\n# two,\nTitle,\nx,y\n1,2\n3,4\n", [],
     "lines 1 to 4 hold text; lines that begin with '#' are rows too: grep -v '^#' removes them", None),
    ("a repeated header", "x,y\n1,2\n3,4\nx,y\n5,6\n", [], "line 4, column 1: 'x' is not a number; the row repeats the "
     "header: awk 'NR == 1 {h = $0} NR == 1 || $0 != h' removes such lines", None),
    ("a footer", "x,y\n1,2\n3,4\n5,6\nSource: somewhere,\n", [], "the other cells of the row are empty: if it is no sample, sed 5d "
     "removes the line", None),
    ("the delimiter for spreadsheets", "sep=;\nx;y\n1;2\n3;4\n", [],
     "'sep=;' tells spreadsheets the delimiter: sed 1d removes the line, and --delimiter ';' reads the others", None),
    ("units with a gap", "name,x,y\n,m/s,%\nann,1,2\nbob,2,3\n", [], "such as titles and units: sed 2d removes all but the "
     "first", None),
    ("units with a hyphen", "x,y,z\ncm,kg,-\n1,2,3\n4,5,6\n", [], "such as titles and units: sed 2d removes all but the "
     "first", None),
    ("hyphens for missing values", "name,x,y\nann,-,-\nbob,1,2\ncat,3,4\n", ["--drop-columns", "name"],
     "'-' is not a number; a missing value must be filled in, or its row left out (--drop-missing)",
     ["--drop-columns", "name", "--drop-missing"]),
    ("chosen columns of text", "x,y\na,b\nc,d\n", ["--columns", "x,y"],
     "--columns chooses the columns that are numbers, --label-column takes one as classes", None),
    ("a chosen column without a name", "x,\n1,\n2,\n", ["--columns", "0,1"],
     "the column has no name, as when every line ends with a delimiter; leave 1 out of --columns", ["--columns", "0"]),
    ("a chosen column without values", "x,y\n1,\n2,\n", ["--columns", "x,y", "--drop-missing"],
     "column 2 has no value at all; leave y out of --columns", ["--columns", "x", "--drop-missing"]),
    ("a line break in a chosen column", 'x,y\n"1\n2",3\n', ["--columns", "x,y"],
     "which is allowed only in columns that are left out (--columns or --drop-columns)", ["--columns", "y"]),
    ("percent signs", "x,y\n12%,1\n13%,2\n", [],
     "leave out units, percent signs and currency symbols: sed 's/%//g'", None),
    ("whole lines in quotes", '"a,b"\n"737,361"\n"859,467"\n', [],
     "line 1, column 1: the whole line is one cell in quotes, 'a,b'; if ',' separates its cells, sed 's/^\"//; s/\"$//' "
     "removes the quotes", None),
    ("whole lines in quotes as thousands", '"a,b"\n"737,361"\n"859,467"\n', ["--thousands", ","],
     "the only column is called 'a,b'; if ',' separates the cells, sed 's/^\"//; s/\"$//' removes the quotes, and "
     "--thousands must be left out; otherwise write the name without ','", None),
    ("whole lines in quotes as decimals", '"a,b"\n"5,1"\n"6,7"\n', ["--decimal-comma", "--delimiter", ","],
     "removes the quotes, and --decimal-comma must be left out; otherwise write the name without ','", None),
    ("semicolons without a header", "0,5;11,4\n1,5;63,4\n", [],
     "line 1, column 2: '5;11' is not a number; if ';' separates the cells, set --delimiter ';', or --decimal-comma for "
     "cells such as 2,5", ["--decimal-comma"]),
    ("values below a limit", "x,y\n1,1\n2,2\n3,3\n4,4\n<0.5,5\n", [],
     "'<0.5' is not a number; --missing '<0.5' with --drop-missing leaves rows with such texts out, --drop-columns x leaves "
     "the column out", ["--missing", "<0.5", "--drop-missing"]),
    ("footnote marks", "x,y\n0.64*,1\n2,3\n", [],
     "'0.64*' is not a number; footnote marks belong elsewhere: sed 's/[*]//g' removes them", None),
    ("formulas", 'x,y\n="2.53",1\n="3",2\n', [],
     "is not a number; write the number itself: sed 's/=\"\\([^\"]*\\)\"/\\1/g'", None),
    ("sparse rows", "0 1:2.53 2:1125.00\n1 2:3\n", [],
     "this is sparse text in libsvm's format, which is not read; every row must have the values of all features", None),
    ("negative amounts", "x,y\n(12.5),1\n13,2\n", [], "'(12.5)' is not a number; if it is negative, write -12.5", None),
]


class Messages(TestCase):
    def test_each_names_what_mends_it(self):
        for name, text, options, end, mend in MESSAGES:
            with self.subTest(name):
                file = self.write("x.csv", text)
                said = run("data", "info", file, *options, status=2).stderr
                self.assertEqual(said.count("\n"), 1, said)
                self.assertTrue(said.endswith(end + "\n"), said)
                if mend is not None:
                    run("data", "info", file, *mend)

    def test_other_libraries_are_external_programs(self):
        self.assertIn("'sklearn' is an external program, which 'lloyd run' compares with backends: see "
                      "docs/external_programs.md\n", run("fit", IRIS, "-k", "3", "-b", "sklearn", status=2).stderr)

    def test_an_experiment_names_the_command_that_leaves_out_nan(self):
        data = struct.pack("<40d", *[math.nan if i == 5 else i % 7 for i in range(40)])
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (20, 2), }".ljust(117) + b"\n"
        self.write("n.npy", b"\x93NUMPY\x01\x00\x76\x00" + header + data)
        config = self.write("e.yaml", "dataset: {file: n.npy}\nclusters: 2\nbackends: [sequential]\n")
        said = run("run", config, "--dry-run", status=2).stderr
        command = re.search(r"is nan; all values must be finite; '(lloyd data convert \S+ NEW.npy --drop-missing)' leaves "
                            r"such rows out\n$", said)[1]
        done = run(*command.split()[1:], cwd=self.folder)
        self.assertIn("wrote 19 samples", done.stdout + done.stderr)

    def test_an_experiment_names_the_keys(self):
        file = self.write("x.csv", 'net price,my name,y\n"1,234",ann,2\n7,bob,3\n')
        config = self.write("e.yaml", f"dataset: {{file: '{file}'}}\nclusters: 2\nbackends: [sequential]\n")
        self.assertIn("'1,234' is not a number; 'dataset.thousands: \",\"' reads it as 1234",
                      run("run", config, "--dry-run", status=2).stderr)
        said = run("run", config, "--dry-run", "--set", "dataset.thousands=','", status=2).stderr
        self.assertIn("'dataset.drop_columns: [\"my name\"]' leaves the column out", said)
        config = self.write("e.yaml", f"dataset: {{file: '{file}', thousands: ',', drop_columns: [\"my name\"]}}\n"
                            "clusters: 2\nrepeats: 1\nbackends: [sequential]\n")
        run("run", config, "--output", self.folder / "out")
        record = json.loads((self.folder / "out" / "records.jsonl").read_text().splitlines()[0])
        self.assertEqual(record["dataset"]["source"]["thousands"], ",")

    def test_names_in_windows_1252_are_recognized(self):
        file = self.folder / "a b.csv"
        file.write_bytes("gr\u00f6\u00dfe,preis \u20ac\n1,2\n3,4\n".encode("cp1252"))
        self.assertIn(f"if the file is Windows-1252, iconv -f cp1252 -t utf-8 '{file}' > NEW.csv converts it\n",
                      run("data", "info", file).stderr)


class Repairs(TestCase):
    def test_rows_with_missing_values_are_dropped(self):
        file = self.write("x.csv", "x,y\n1,2\nNA,3\n4,5\n,6\n7,8\n")
        done = run("fit", file, "-k", "2", "--drop-missing", "--labels", self.folder / "l.csv")
        self.assertIn(f"lloyd: {file}: 2 of 5 rows have a missing value and were left out: 'x' in 2\n", done.stderr)
        self.assertEqual([line == "-1" for line in (self.folder / "l.csv").read_text().split()],
                         [False, True, False, True, False])
        self.assertIn("--drop-missing", run("fit", file, "-k", "2", status=2).stderr)
        done = run("data", "convert", file, self.folder / "x.npy", "--drop-missing")
        self.assertIn("2 of 5 rows", done.stderr)
        self.assertIn("wrote 3 samples", done.stderr)

    def test_the_index_of_pandas_is_left_out_as_the_message_says(self):
        index = "".join(f"{i},{x},{y}\n" for i, (x, y) in enumerate(zip(X, Y)))
        data = self.write("x.csv", ",0,1\n" + index)
        convert = ["data", "convert", data, self.folder / "x.npy"]
        model = self.folder / "m.json"
        run("fit", data, "-k", "2", "--drop-columns", "", "--model", model)
        fit = ["fit", data, "-k", "2"]
        for command in (fit, [*fit, "--drop-missing"], [*fit, "--header"], [*fit, "--drop-columns", "0"], ["data", "info", data],
                        convert, ["predict", model, data]):
            with self.subTest(command):
                self.assertIn("line 1, column 1: the column has no name, so it may hold row numbers; list the features with "
                              "--columns, or leave it out with --drop-columns ''\n", run(*command, status=2).stderr)
        info = run_json("data", "info", data, "--drop-columns", "")
        self.assertEqual((info["samples"], [each["feature"] for each in info["statistics"]]), (30, ["0", "1"]))
        for options, names in ((["--drop-columns", ""], ["0", "1"]), (["--columns", "1"], ["1"])):
            dataset = run_json(*fit, *options)["dataset"]
            self.assertEqual((dataset["samples"], dataset["feature_names"]), (30, names))
        self.assertIn("wrote 30 samples of 2 features", run(*convert, "--drop-columns", "").stderr)
        self.assertIn("labelled 30 samples", run("predict", model, data, "--drop-columns", "", "--labels",
                                                 self.folder / "l.csv").stdout)
        config = "dataset: {file: x.csv, drop_columns: %s}\nclusters: 2\nbackends: [sequential]\n"
        said = run("run", self.write("c.yaml", config % "[0]"), "--dry-run", status=2).stderr
        self.assertIn("leave it out with 'dataset.drop_columns: [\"\"]'", said)
        run("run", self.write("c.yaml", config % '[""]'), "--output", self.folder / "run")
        record = json.loads((self.folder / "run/records.jsonl").read_text().splitlines()[0])
        self.assertEqual((record["dataset"]["samples"], record["dataset"]["features"]), (30, 2))

    def test_rows_with_nan_are_dropped_from_other_formats(self):
        header = b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 1), }".ljust(
            117) + b"\n"
        nan = b"\0\0\0\0\0\0\xf8\x7f"
        file = self.write("x.npy", header + b"\0" * 8 + nan + b"\0" * 6 + b"\xf0\x3f")
        run("fit", file, "-k", "2", status=2)
        labels, model, distances = (self.folder / name for name in ("l.csv", "m.json", "d.csv"))
        fit = run_json("fit", file, "-k", "2", "--drop-missing", "--labels", labels, "--model", model)
        self.assertEqual((fit["dataset"]["samples"], fit["inertia"]), (2, 0))
        self.assertIn("1 of 3 rows has a missing value and was left out: column 0 in 1\n",
                      run("fit", file, "-k", "2", "--drop-missing").stderr)
        self.assertEqual(labels.read_text().split()[1], "-1")
        done = run("predict", model, file, "--drop-missing", "--distances", distances, "--labels", self.folder / "p.csv")
        self.assertEqual(distances.read_text().split(), ["0", "nan", "0"])
        self.assertIn("-1 for the 1 left out", done.stderr)
        self.assertEqual((self.folder / "p.csv").read_text(), labels.read_text())

    def test_columns_with_missing_values_are_named(self):
        rows = [",".join("" if i % p == 0 else str(i + p) for p in (2, 3, 5, 7, 11, 13, 97)) for i in range(1, 40)]
        said = run("fit", self.write("x.csv", "\n".join(rows) + "\n"), "-k", "2", "--drop-missing").stderr
        self.assertIn("left out: column 0 in 19, column 1 in 13, column 2 in 7, column 3 in 5, column 4 in 3 and 1 more "
                      "column\n", said)

    def test_labels_can_be_joined_to_the_rows_of_the_file(self):
        rows = [f"{i % 5 + (i % 2) * 20},{i % 3}" for i in range(20)]
        complete = self.write("c.csv", "x,y\n" + "\n".join(rows) + "\n")
        gaps = {0, 7, 8, 19}
        file = self.write("x.csv", "x,y\n" + "\n".join("NA,1" if i in gaps else row for i, row in enumerate(rows)) + "\n")
        for options in ([], ["--standardize"]):
            run("fit", file, "-k", "2", "--drop-missing", *options, "-o", self.folder / "out")
            labels = (self.folder / "out" / "labels.csv").read_text().split()
            self.assertEqual({i for i, label in enumerate(labels) if label == "-1"}, gaps)
            model = self.folder / "out" / "model.json"
            whole = run("predict", model, complete).stdout.split()
            self.assertEqual(labels, ["-1" if i in gaps else label for i, label in enumerate(whole)])
            self.assertEqual(run("predict", model, file, "--drop-missing").stdout.split(), labels)
        self.assertEqual(run("predict", model, complete, "--drop-missing").stderr.count("left out"), 0)

    def test_rows_that_an_experiment_leaves_out_are_noted_once(self):
        self.write("x.csv", "x,y\n1,2\nNA,3\n4,5\n")
        config = self.write("e.yaml", "dataset: {file: x.csv, drop_missing: true}\nclusters: 2\nrepeats: 2\n"
                            "backends: [sequential]\nsweep: {dataset.standardize: [true, false]}\n")
        said = run("run", config, "--output", self.folder / "out").stderr
        self.assertEqual(said.count("x.csv: 1 of 3 rows has a missing value and was left out: 'x' in 1\n"), 1, said)
        said = run("run", config, "--set", "dataset.file=x.npy", "--dry-run", status=2).stderr
        self.assertIn("'dataset.drop_missing' is for text files only; 'lloyd data convert' has this option", said)

    def test_messages_name_keys_or_options(self):
        file = self.write("x.csv", "1;2\n3;4\n")
        config = self.write("e.yaml", "dataset: {file: x.csv}\nclusters: 2\nbackends: [sequential]\n")
        said = run("run", config, "--dry-run", status=2).stderr
        self.assertIn("set 'dataset.delimiter: \";\"', or 'dataset.decimal_comma' for cells such as 2,5; "
                      "'dataset.header' tells", said)
        self.assertNotIn("--", said)
        self.assertIn("set --delimiter ';', or --decimal-comma for cells such as 2,5; --header or --no-header tells",
                      run("fit", file, "-k", "2", status=2).stderr)

    def test_a_given_decimal_comma_is_not_advised(self):
        file = self.write("x.csv", "x;y\n1,5;1,000,5\n2,5;3\n")
        said = run("fit", file, "-k", "2", "--decimal-comma", status=2).stderr
        self.assertIn("write thousands without separators: 1000,5", said)
        self.assertNotIn("--decimal-comma", said)

    def test_decimal_commas_are_read(self):
        file = self.write("x.csv", "x;y\n1,5;2\n3;4,25\n")
        self.assertIn("--decimal-comma", run("fit", file, "-k", "2", status=2).stderr)
        self.assertIn("--decimal-comma", run("fit", file, "-k", "2", "--delimiter", ";", status=2).stderr)
        info = run_json("data", "info", file, "--decimal-comma")
        self.assertEqual([feature["maximum"] for feature in info["statistics"]], [3, 4.25])

    def test_a_word_names_the_option_for_columns(self):
        file = self.write("x.csv", "name,x,sex,y\nann,1,f,2\nbob,2,m,3\n")
        self.assertIn("line 2, column 1: 'ann' is not a number; --drop-columns name,sex leaves the columns of text out, "
                      "--label-column takes one as classes\n", run("fit", file, "-k", "2", status=2).stderr)
        self.assertIn("'f' is not a number; --drop-columns name,sex leaves the column out, --label-column sex takes it "
                      "as classes\n", run("fit", file, "-k", "2", "--drop-columns", "name", status=2).stderr)
        run("fit", file, "-k", "2", "--drop-columns", "name,sex")
        experiment = self.write("c.yaml", f"dataset: {{file: {file}, drop_columns: [name]}}\nbackends: [sequential]\n")
        self.assertIn("'f' is not a number; 'dataset.drop_columns: [name, sex]' leaves the column out, "
                      "'dataset.label_column: sex' takes it as classes\n",
                      run("run", experiment, "--dry-run", status=2).stderr)

    def test_texts_that_stand_for_missing_values_are_left_out(self):
        rows = [f"{30 + i % 40},{i}" for i in range(60)]
        rows[7] = rows[20] = "unknown,1"
        file = self.write("x.csv", "age,income\n" + "\n".join(rows) + "\n")
        self.assertIn("line 9, column 1: 'unknown' is not a number; --missing unknown counts such texts as missing and "
                      "leaves their rows out, --drop-columns age leaves the column out\n",
                      run("fit", file, "-k", "2", "--drop-missing", status=2).stderr)
        done = run("fit", file, "-k", "2", "--drop-missing", "--missing", "unknown,n/k", "-o", self.folder / "fit")
        self.assertIn("2 of 60 rows have a missing value and were left out: 'age' in 2", done.stderr)
        labels = run("predict", self.folder / "fit" / "model.json", file, "--drop-missing", "--missing", "unknown")
        self.assertEqual(labels.stdout.split().count("-1"), 2)
        self.assertEqual(run_json("data", "info", file, "--drop-missing", "--missing=unknown")["samples"], 58)
        text = f"dataset: {{file: {file}, drop_missing: true, missing: [MISSING]}}\nbackends: [sequential]\nrepeats: 1\n"
        experiment = self.write("c.yaml", text.replace("MISSING", "unknown, -999"))
        run("run", experiment, "--output", self.folder / "out")
        record = json.loads((self.folder / "out" / "records.jsonl").read_text().splitlines()[0])
        self.assertEqual(record["dataset"]["samples"], 58)
        self.assertEqual(record["dataset"]["source"]["missing"], ["unknown", "-999"])
        self.assertIn("'dataset.missing: [none, unknown]' counts such texts as missing",
                      run("run", self.write("d.yaml", text.replace("MISSING", "none")), status=2).stderr)
        self.assertIn("--missing is for text files only", run("fit", "x.npy", "-k", "2", "--missing=1", status=2).stderr)

    def test_a_sentinel_is_left_out_as_a_missing_value(self):
        rows = [f"{-999 if i % 9 == 0 else i % 37},{i % 7}" for i in range(200)]
        file = self.write("x.csv", "age,y\n" + "\n".join(rows) + "\n")
        said = run("fit", file, "-k", "2").stderr
        self.assertIn("--missing=-999 with --drop-missing leaves such rows out", said)
        done = run("fit", file, "-k", "2", "--missing=-999", "--drop-missing")
        self.assertIn("23 of 200 rows have a missing value", done.stderr)
        self.assertNotIn("may stand for", done.stderr)

    def test_delimiters_at_the_ends_of_lines_are_explained(self):
        file = self.write("x.csv", "a,b,\n1,2,\n3,4,\n")
        self.assertIn("line 2, column 3: all cells of the last column are empty: a delimiter at the end of every line "
                      "begins another column, as in pandas and R; --drop-columns 2 leaves it out\n",
                      run("fit", file, "-k", "2", status=2).stderr)
        run("fit", file, "-k", "2", "--drop-columns", "2")


class Standardize(TestCase):
    def setUp(self):
        super().setUp()
        self.file = self.write("x.csv", table("x,y", X, [4096 * y for y in Y]))

    def test_a_fit_is_that_of_standardized_data(self):
        def standardized(values):
            mean = sum(values) / len(values)
            deviation = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
            return [(value - mean) / deviation for value in values]
        other = self.write("z.csv", table("x,y", standardized(X), standardized(Y)))
        fit = run_json("fit", self.file, "-k", "3", "--standardize", "--dtype", "float64")
        same = run_json("fit", other, "-k", "3", "--dtype", "float64")
        self.assertEqual(fit["counts"], same["counts"])
        self.assertAlmostEqual(fit["inertia"], same["inertia"], places=9)
        for format in (".npy", ".h5"):
            file = self.folder / ("x" + format)
            run("data", "convert", self.file, file, "--dtype", "float64")
            again = run_json("fit", file, "-k", "3", "--standardize")
            self.assertEqual((again["counts"], again["inertia"]), (fit["counts"], fit["inertia"]))

    def test_a_value_that_leaves_a_feature_useless_is_warned_of(self):
        def warnings(values, *options):
            file = self.write("o.csv", table("x,y", values, [Y[i % 30] for i in range(len(values))]))
            lines = run("fit", file, "-k", "3", *options).stderr.splitlines()
            return [line.removeprefix(f"lloyd: warning: {file}: ") for line in lines if "deviations from" in line]
        for outlier, place in ((1e30, 7), (-1e6, 29)):
            values = [outlier if i == place else X[i] for i in range(30)]
            self.assertEqual(warnings(values, "--standardize"),
                             [f"'x' has a value, {outlier:g}, that is 5.39 standard deviations from the mean, so once "
                              "it is standardized, its other values have a standard deviation below 0.01 and hardly "
                              "count; correct the value or remove its row; --drop-columns x leaves the feature out"])
            self.assertEqual(warnings(values), [])
            self.assertTrue(warnings(values, "--standardize", "--columns", "x,y")[0].endswith(
                "count; correct the value or remove its row, or leave x out of --columns"))
        categories = [1 if i == 7 else 0 for i in range(30)]
        log_normal = [math.exp(2 * statistics.NormalDist().inv_cdf((7 * i % 1000 + 0.5) / 1000)) for i in range(1000)]
        cauchy = [math.tan(math.pi * ((7 * i % 30 + 0.5) / 30 - 0.5)) for i in range(30)]
        for values in (X, categories, log_normal, cauchy, [200, *X[1:]], [1e6, *X[:18]]):
            self.assertEqual(warnings(values, "--standardize"), [])

    def test_centroids_have_the_units_of_the_data(self):
        centroids = self.folder / "c.csv"
        labels = self.folder / "l.csv"
        run("fit", self.file, "-k", "3", "--standardize", "--centroids", centroids, "--labels", labels)
        label = [int(text) for text in labels.read_text().split()]
        rows = [[float(cell) for cell in line.split(",")] for line in centroids.read_text().splitlines()[1:]]
        for c, row in enumerate(rows):
            members = [i for i in range(30) if label[i] == c]
            self.assertAlmostEqual(row[0], sum(X[i] for i in members) / len(members), places=4)
            self.assertAlmostEqual(row[1] / 4096, sum(Y[i] for i in members) / len(members), places=4)

    def test_predict_standardizes_by_the_model(self):
        model, labels, again = (self.folder / name for name in ("m.json", "l.csv", "p.csv"))
        run("fit", self.file, "-k", "3", "--standardize", "--model", model, "--labels", labels)
        run("predict", model, self.file, "--labels", again)
        self.assertEqual(labels.read_text(), again.read_text())
        part = self.write("part.csv", "x,y\n" + "\n".join(self.file.read_text().splitlines()[1:6]) + "\n")
        run("predict", model, part, "--labels", again)
        self.assertEqual(labels.read_text().split()[:5], again.read_text().split())
        document = json.loads(model.read_text())
        self.assertEqual(document["version"], 2)
        document["standardization"]["deviation"][0] = 0
        model.write_text(json.dumps(document))
        self.assertIn("'standardization.deviation' has a value 0, not a finite number above 0",
                      run("predict", model, self.file, status=2).stderr)
        del document["standardization"]
        model.write_text(json.dumps(document))
        self.assertIn("the model lacks 'standardization'", run("predict", model, self.file, status=2).stderr)


if __name__ == "__main__":
    unittest.main()
