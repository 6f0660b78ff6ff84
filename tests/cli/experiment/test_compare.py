"""`lloyd compare`: two recorded runs, or two backends of one run."""

import csv
import io
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import TestCase, run

CONFIG = """
experiment: compared
dataset:
  blobs: {samples: 300, features: 2, centers: 4}
backends: [BACKENDS]
stop: {iterations: 3}
repeats: 8
sweep: {clusters: [CLUSTERS]}
"""


class Compare(TestCase):
    def setUp(self):
        super().setUp()
        self.old = self.records("old", "sequential, openmp: {threads: 1}")

    def records(self, name, backends, clusters="2, 3"):
        text = CONFIG.replace("BACKENDS", backends).replace("CLUSTERS", clusters)
        run("run", self.write("config.yaml", text), "--output", self.folder / name)
        return self.folder / name / "records.jsonl"

    def changed(self, name, change, source=None):
        """A copy of the records after `change` of each; the times become constant, 10 ms."""
        lines = []
        for line in (source or self.old).read_text().splitlines():
            record = json.loads(line)
            record["fit_ms"] = record["loop_ms"] = 10 + 0.01 * record["repeat"]
            if record["conditions"]:  # hides the load of the machine that runs the test
                record["conditions"]["before"]["load"] = 0
            change(record)
            lines.append(json.dumps(record) + "\n")
        return self.write(name, "".join(lines))

    def steady(self, name="steady.jsonl", factor=1.0, clusters=None):
        def change(record):
            if clusters in (None, record["clusters"]):
                record["loop_ms"] *= factor
                record["fit_ms"] *= factor
        return self.changed(name, change)

    def verdicts(self, *arguments):
        rows = json.loads(run("compare", *arguments, "--json").stdout)["rows"]
        return [row["verdict"] for row in rows]

    def test_same_records_are_the_same(self):
        steady = self.steady()
        self.assertEqual(self.verdicts(steady, steady), ["same"] * 4)
        run("compare", steady, steady, "--fail-if-slower", "0%")

    def test_the_same_run_twice_is_reported(self):
        said = "both are the same run"
        self.assertEqual(run("compare", self.old, self.old.parent).stderr.count(said), 1)
        copy = self.write("copy.jsonl", self.old.read_text())
        self.assertEqual(run("compare", self.old, copy).stderr.count("\n"), 1)
        self.assertIn(said, run("compare", self.old, copy, "--json").stderr)
        # The same run, but with changed records.
        self.assertEqual(run("compare", self.old, self.steady()).stderr, "")
        self.assertEqual(run("compare", self.old).stderr, "")

    def test_other_parameters_are_named(self):
        def threads_2(record):
            if "threads" in record["backend"]["parameters"]:
                record["backend"]["parameters"]["threads"] = 2
        warnings = json.loads(run("compare", self.old, self.changed("2.jsonl", threads_2), "--json").stdout)["warnings"]
        self.assertEqual(warnings, ["parameter 'threads' of openmp: 1 (old), 2 (new)"])

    def test_slower_settings_are_found_and_may_fail(self):
        old, new = self.steady(), self.steady("new.jsonl", 1.5, clusters=3)
        self.assertEqual(self.verdicts(old, new), ["same", "same", "slower", "slower"])
        self.assertEqual(self.verdicts(new, old), ["same", "same", "faster", "faster"])
        run("compare", old, new)
        done = run("compare", old, new, "--fail-if-slower", "5%", status=1)
        self.assertEqual(done.stderr, "lloyd: slower by more than 5%\n")
        self.assertIn("1.50 (1.49 - 1.51)", done.stdout)
        run("compare", old, new, "--fail-if-slower", "60%")
        run("compare", new, old, "--fail-if-slower", "5%")

    def test_two_backends_of_one_run_are_paired(self):
        def change(record):
            if record["backend"]["name"] == "openmp":
                record["loop_ms"] *= 0.5
        records = self.changed("half.jsonl", change)
        comparison = json.loads(run("compare", records, "--json").stdout)
        self.assertTrue(comparison["paired"])
        self.assertEqual([row["verdict"] for row in comparison["rows"]], ["faster"] * 2)
        self.assertEqual(comparison["rows"][0]["ratio"], 0.5)
        self.assertEqual(comparison["geometric_means"][0]["verdict"], "faster")
        self.assertEqual(self.verdicts(records, "--backends", "openmp", "sequential"), ["slower"] * 2)

    def test_a_folder_stands_for_its_records(self):
        self.assertEqual(run("compare", self.old).stdout, run("compare", self.old.parent).stdout)

    def test_runs_of_one_file_are_chosen(self):
        first = json.loads(self.old.read_text().splitlines()[0])["run"]
        self.records("old", "sequential")
        done = run("compare", self.old, self.old, "--run", first, "--run", "last", "--json")
        comparison = json.loads(done.stdout)
        self.assertEqual(comparison["old"]["run"], first)
        self.assertNotEqual(comparison["new"]["run"], first)
        self.assertEqual(len(comparison["rows"]), 2)
        self.assertEqual(comparison["only_old"],
                         ["openmp with clusters 2", "openmp with clusters 3"])
        self.assertNotIn("this is the last one", done.stderr)
        self.assertIn("has no run 'x'", run("compare", self.old, "--run", "x", status=2).stderr)

    def test_equal_variants_with_different_labels_are_paired(self):
        # Labels name the parameters that vary within a run.
        both = self.records("both", "openmp: {threads: [1, 2]}")
        comparison = json.loads(run("compare", self.old, both, "--json").stdout)
        self.assertEqual([(row["old_backend"], row["new_backend"]) for row in comparison["rows"]],
                         [("openmp", "openmp threads=1")] * 2)
        self.assertEqual(comparison["only_new"], [f"openmp threads=2 with clusters {k}" for k in (2, 3)])
        self.assertEqual(comparison["only_old"], [f"sequential with clusters {k}" for k in (2, 3)])

    def test_the_difference_is_named_if_nothing_matches(self):
        other = self.records("other", "openmp: {threads: [2, 3]}")
        said = run("compare", self.old, other, status=2).stderr
        self.assertIn("no setting with a backend in common; backends: sequential, openmp (old), "
                      "openmp threads=2, openmp threads=3 (new)", said)
        other = self.records("clusters", "sequential", clusters="5")
        said = run("compare", self.old, other, status=2).stderr
        self.assertIn("in common; their first settings differ in clusters: 2 (old), 5 (new)", said)

    def test_the_ratio_is_the_reciprocal_of_the_speedup(self):
        def change(record):
            if record["backend"]["name"] == "openmp":
                for time in ("loop_ms", "fit_ms"):
                    record[time] *= 1 + record["repeat"]
        records = self.changed("uneven.jsonl", change)  # 8 rounds
        ratios = json.loads(run("compare", records, "--json").stdout)["rows"]
        swapped = json.loads(run("compare", records, "--backends", "openmp", "sequential", "--json").stdout)["rows"]
        summary = json.loads(run("report", records, "--baseline", "sequential", "--json").stdout)["rows"]
        speedups = [row for row in summary if row["backend"] == "openmp"]
        self.assertEqual(len(ratios), 2)
        for ratio, other, speedup in zip(ratios, swapped, speedups):
            for value, opposite, inverse in (("ratio", "ratio", "speedup"), ("ratio_low", "ratio_high", "speedup_high"),
                                             ("ratio_high", "ratio_low", "speedup_low")):
                self.assertAlmostEqual(ratio[value] * other[opposite], 1, 9)
                self.assertAlmostEqual(ratio[value] * speedup[inverse], 1, 9)

    def test_unclear_settings_pass_and_are_counted(self):
        def change(record):
            record["loop_ms"] *= 3 if record["repeat"] % 2 and record["clusters"] == 3 else 1
        old, new = self.steady(), self.changed("noisy.jsonl", change)
        done = run("compare", old, new, "--fail-if-slower", "5%")
        self.assertEqual(done.stderr, "lloyd: unclear: 2 of 4 settings\n")
        self.assertEqual(run("compare", old, new).stderr, "")

    def test_two_runs_of_one_file_are_compared(self):
        first = json.loads(self.old.read_text().splitlines()[0])["run"]
        self.records("old", "sequential, openmp: {threads: 1}")
        both = json.loads(run("compare", self.old, "--run", first, "last", "--json").stdout)
        self.assertEqual((both["old"]["run"], len(both["rows"]), both["paired"]), (first, 4, False))
        self.assertEqual(run("compare", "--run", first, "last", self.old, self.old).stdout,
                         run("compare", self.old, "--run", first, "--run", "last").stdout)

    def test_the_beginning_of_an_identifier_is_enough(self):
        self.records("old", "sequential, openmp: {threads: 1}")
        first, *_, last = (json.loads(line)["run"] for line in self.old.read_text().splitlines())
        both = json.loads(run("compare", self.old, "--run", first[:-1], last[:-1], "--json").stdout)
        self.assertEqual((both["old"]["run"], both["new"]["run"]), (first, last))
        common = os.path.commonprefix([first, last])
        for command in ("compare", "report"):
            self.assertIn(f"has 2 runs that begin with '{common}' ({first}, {last})\n",
                          run(command, self.old, "--run", common, status=2).stderr)

    def test_what_is_only_on_one_side_is_listed(self):
        other = self.records("other", "sequential", clusters="3, 4")
        text = run("compare", self.old, other).stdout
        self.assertIn("only old: openmp with clusters 2\n", text)
        self.assertIn("only new: sequential with clusters 4\n", text)

    def test_formats_agree(self):
        arguments = (self.steady(), self.steady("new.jsonl", 1.5))
        rows = json.loads(run("compare", *arguments, "--format", "json").stdout)["rows"]
        table = list(csv.DictReader(io.StringIO(
            run("compare", *arguments, "--format", "csv").stdout)))
        self.assertEqual([row["verdict"] for row in rows], [row["verdict"] for row in table])
        self.assertEqual([row["ratio"] for row in rows], [float(row["ratio"]) for row in table])
        lines = run("compare", *arguments, "--format", "markdown").stdout.splitlines()
        self.assertTrue(lines[0].startswith("| clusters | backend | old ms | new ms | new/old |"))
        self.assertEqual([line.split(" | ")[-1] for line in lines[2:6]],
                         [row["verdict"] + " |" for row in rows])

    def test_records_of_earlier_versions_are_read(self):
        def change(record):
            del record["order"], record["plan"]["until"], record["plan"]["order_seed"]
        self.assertEqual(self.verdicts(self.steady(), self.changed("earlier.jsonl", change)), ["same"] * 4)

    def test_bad_use_is_refused(self):
        def refusal(*arguments):
            return run("compare", *arguments, status=2).stderr

        def fail(record):
            record.update(status="failed", reason="on fire", iterations=None)
        empty = self.write("empty.jsonl", "")
        other = self.records("other", "sequential", clusters="5")
        failed = self.changed("failed.jsonl", fail)
        self.assertIn("holds no records", refusal(self.old, empty))
        self.assertIn("no setting with a backend in common", refusal(self.old, other))
        self.assertIn("no setting has times on both sides (sequential with clusters 2 (new): failed: "
                      "on fire)", refusal(self.old, failed))
        self.assertRegex(refusal(other), r"a comparison needs two backends, but the run in \S*other\S* has one "
                         r"\(sequential\); a second RECORDS names another file\n")
        self.records("other", "sequential", clusters="5")
        self.assertIn("has one (sequential); --run ID ID compares two of the 2 runs in the file or a second RECORDS "
                      "names another file\n", refusal(other))
        self.assertIn("has no backend 'opnmp' (did you mean 'openmp'?)",
                      refusal(self.old, "--backends", "sequential", "opnmp"))
        self.assertIn("of one file of records, not of two",
                      refusal(self.old, self.old, "--backends", "sequential", "openmp"))
        self.assertIn("takes a percentage from 0% to 1000%, such as 5%, not '0.05'",
                      refusal(self.old, "--fail-if-slower", "0.05"))
        for number in ("", "abc", "%", "1001%", "-1%", "nan%", " 5%", "5% "):
            self.assertIn(f"takes a percentage from 0% to 1000%, such as 5%, not '{number}'",
                          refusal(self.old, "--fail-if-slower", number))
        self.assertIn("which is a file or folder", refusal("--run", "last", self.old, self.old))
        self.assertIn("at most 2", run("compare", self.old, "--run", "a", "--run", "b", "--run", "c", status=2).stderr)
        self.assertIn("cannot be opened", refusal(self.folder / "none", self.old))


if __name__ == "__main__":
    unittest.main()
