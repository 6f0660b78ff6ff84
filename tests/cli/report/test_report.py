"""`lloyd report` prints the same from the records as `lloyd run` printed."""

import csv
import json
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import LLOYD, TestCase, run

CONFIG = """
experiment: reported
dataset:
  blobs: {samples: 500, features: 2, centers: 4}
backends: [sequential, openmp: {threads: [1, 2]}]
baseline: sequential
repeats: REPEATS
sweep: {clusters: [2, 3]}
output: OUTPUT
"""


class Report(TestCase):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "out"
        self.records = self.output / "records.jsonl"

    def config(self, repeats):
        text = CONFIG.replace("OUTPUT", str(self.output)).replace("REPEATS", str(repeats))
        return self.write("config.yaml", text)

    @staticmethod
    def table_of(printed):
        return printed[:printed.index("\nrecords: ")]

    def changed(self, name, change):
        """The records of the run after `change` of each."""
        records = [json.loads(line) for line in self.records.read_text().splitlines()]
        for record in records:
            change(record)
        return self.write(name, "".join(json.dumps(record) + "\n" for record in records))

    def test_a_loop_that_took_no_time_has_no_rate(self):
        run("run", self.config(2), "--set", "stop={iterations: 3}", "--set", "profile=true")
        none = self.changed("none.jsonl", lambda record: record.update(
            loop_ms=0, closing_ms=0, phase_ms=dict.fromkeys(record["phase_ms"], 1)))
        some = self.changed("some.jsonl", lambda record: None)
        for arguments in (["report", none], ["report", none, "--json"], ["compare", none, some],
                          ["compare", none, some, "--format", "csv"], ["compare", none, some, "--format", "json"],
                          ["compare", none, some, "--format", "markdown"]):
            printed = run(*arguments).stdout
            self.assertNotRegex(printed, r"(?i)\b(nan|inf|infinity)\b")
        rows = json.loads(run("report", none, "--json").stdout)["rows"]
        self.assertEqual({row["gflop_per_s"] for row in rows}, {None})
        self.assertIn("GFLOP/s", run("report", none).stdout)

    def test_a_trial_that_is_ok_has_its_numbers(self):
        run("run", self.config(2))
        for key in ("inertia", "loop_ms", "closing_ms", "fit_ms", "inertia_after_one"):
            file = self.changed("null.jsonl", lambda record, key=key: record.update({key: None}))
            for command in (["report"], ["report", "--json"], ["compare"]):
                self.assertEqual(run(*command, file, *([file] if command == ["compare"] else []), status=2).stderr,
                                 f"lloyd: {file}:1: '{key}' is null, not a number >= 0\n")
        failed = self.changed("failed.jsonl", lambda record: record.update(status="failed", reason="x", inertia=None))
        self.assertNotIn("nan", run("report", failed).stdout)

    def test_fits_that_took_no_time_have_no_spread(self):
        run("run", self.config(8))
        lines = []
        for line in self.records.read_text().splitlines():
            record = json.loads(line)
            slow = record["backend"]["name"] == "openmp" and record["repeat"] == 7
            record["fit_ms"] = record["loop_ms"] = 5 if slow else 0
            lines.append(json.dumps(record) + "\n")
        none = self.write("none.jsonl", "".join(lines))
        printed = run("report", none).stdout
        for text in ("nan", "inf%"):
            self.assertNotIn(text, printed)
        rows = json.loads(run("report", none, "--json").stdout)["rows"]
        self.assertEqual([row["spread"] for row in rows], [None] * 6)

    def test_table_is_that_of_the_run(self):
        printed = run("run", self.config(3)).stdout
        for place in (self.records, self.output):
            self.assertEqual(run("report", place).stdout, self.table_of(printed))
        self.assertEqual(run("report", self.records).stderr, "")

    def test_json_is_that_of_the_run(self):
        printed = run("run", self.config(3), "--json").stdout
        self.assertEqual(run("report", self.records, "--json").stdout, printed)
        self.assertEqual(len(json.loads(printed)["rows"]), 6)

    def test_last_of_several_runs_is_shown_and_another_on_demand(self):
        first = run("run", self.config(2)).stdout
        second = run("run", self.config(3)).stdout
        shown = run("report", self.output)
        self.assertEqual(shown.stdout, self.table_of(second))
        self.assertRegex(shown.stderr, r"holds 2 runs; this is the last one, \S+ \(--run takes another\)")
        name = json.loads(self.records.read_text().splitlines()[0])["run"]
        shown = run("report", self.output, "--run", name)
        self.assertEqual(shown.stdout, self.table_of(first))
        self.assertEqual(shown.stderr, "")
        self.assertEqual(run("report", self.output, "--run", name[:-1]).stdout, self.table_of(first))
        shown = run("report", self.output, "--run", "last")
        self.assertEqual((shown.stdout, shown.stderr), (self.table_of(second), ""))
        self.assertIn("has no run 'x'", run("report", self.output, "--run", "x", status=2).stderr)

    def test_interrupted_run_is_reported_as_it_was(self):
        process = subprocess.Popen([LLOYD, "run", str(self.config(100000))], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and process.poll() is None:
            if self.records.exists() and self.records.read_bytes().count(b"\n") >= 4:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130)
        self.assertIn("cancelled: not run", printed)
        self.assertEqual(run("report", self.output).stdout, self.table_of(printed))

    def test_killed_run_shows_what_is_there(self):
        run("run", self.config(2))
        lines = self.records.read_bytes().splitlines(keepends=True)
        self.records.write_bytes(lines[0] + lines[1] + lines[2][:50])
        shown = run("report", self.records)
        self.assertIn("passed over an incomplete last record of 50 bytes", shown.stderr)
        self.assertIn("the run was killed: 2 of its 6 rows are here", shown.stderr)
        # On a busy machine, warnings follow the table.
        self.assertEqual(len(shown.stdout.split("noisy: ")[0].splitlines()), 7)

    def test_settings_off_their_defaults_are_stated(self):
        file = self.write("cust.csv", "age,income\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(40)))
        config = self.write("set.yaml", f"""
dataset: {{file: {file}, standardize: true, columns: [income, age], samples: 30, shuffle: true}}
clusters: 3
seeding: random
sweep: {{restarts: [1, 2]}}
stop: {{tolerance: 0}}
backends: [sequential]
repeats: 1
""")
        run("run", config, "--output", self.output)
        line = ("cust.csv: n = 30; d = 2; k = 3; seed = 0; columns = income,age; samples = 30; shuffle = true; "
                "standardize = true; seeding = random; tolerance = 0")
        text = " ".join(run("report", self.output).stdout.split())
        self.assertIn(line, text)
        self.assertIn("; restarts = 1, 2", text)
        self.assertIn(line, run("report", self.output, "--format", "markdown").stdout.replace("\\", ""))
        lines = run("report", self.output, "--format", "csv").stdout.splitlines()
        row = next(csv.DictReader(lines))
        self.assertEqual([row[key] for key in ("dataset.standardize", "seeding.method", "stop.tolerance", "restarts")],
                         ["true", "random", "0.0", "1"])

    def test_empty_clusters_are_noted(self):
        file = self.write("few.csv", "a,b\n" + "1,1\n2,2\n3,5\n" * 10)
        config = self.write("few.yaml", f"dataset: {{file: {file}}}\nclusters: 5\nbackends: [sequential]\nrepeats: 1\n")
        note = "few.csv has only 3 distinct samples, so 2 of the 5 clusters are empty"
        self.assertIn(note, " ".join(run("run", config, "--output", self.output).stdout.split()))
        self.assertIn(note, " ".join(run("report", self.output).stdout.split()))
        self.assertEqual(json.loads(self.records.read_text())["clusters_empty"], 2)

    def test_accuracy_of_the_baseline_is_stated_once_and_columns_widens(self):
        run("run", self.config(2))
        lines = [json.loads(line) for line in self.records.read_text().splitlines()]
        for line in lines:
            line["plan"]["baseline"] = lines[0]["backend"]["label"]
            line["dataset"]["name"] = "long" * 30
            exact = line["backend"]["label"] != lines[0]["backend"]["label"]
            line["backend"]["accuracy"] = "exact" if exact else "float32"
        self.records.write_text("".join(json.dumps(line) + "\n" for line in lines))
        text = run("report", self.output, env={"COLUMNS": "200"}).stdout
        self.assertRegex(text, r"speedup over float32\n")
        self.assertEqual(text.count("over float32"), 1)
        widest = max(len(line) for line in text.splitlines())
        self.assertGreater(widest, 100)
        narrow = run("report", self.output, env={"COLUMNS": "70"}).stdout
        self.assertLess(max(len(line) for line in narrow.splitlines()), widest)

    def test_every_format_names_data_set_and_setting(self):
        run("run", self.config(2))
        text = run("report", self.output).stdout
        self.assertRegex(text, r"(?m)^blobs\S*: n = \d+; d = \d+; k = \d+(, \d+)*; seed = \d+")
        for format in ("markdown", "latex"):
            printed = run("report", self.output, "--format", format).stdout
            self.assertRegex(printed, r"blobs\S*: n = \d+; d = \d+; k = \d+")
        record = json.loads(self.records.read_text().splitlines()[0])
        lines = run("report", self.output, "--format", "csv").stdout.splitlines()
        row = dict(zip(lines[0].split(","), lines[1].split(",")))
        self.assertEqual([row[key] for key in ("dataset", "features", "seed")],
                         [record["dataset"]["name"], str(record["dataset"]["features"]), str(record["seeding"]["seed"])])
        self.assertEqual(json.loads(run("report", self.output, "--json").stdout)["rows"][0]["dataset"], row["dataset"])

    def test_good_trials_are_shown_beside_a_failed_one(self):
        run("run", self.config(3))

        def fail(record):
            if record["backend"]["name"] == "openmp" and record["repeat"] == 1:
                record.update(status="failed", reason="on fire", iterations=None)
        failed = self.changed("failed.jsonl", fail)
        rows = [row for row in json.loads(run("report", failed, "--json").stdout)["rows"] if row["backend"].startswith("openmp")]
        self.assertEqual({row["trials"] for row in rows}, {2})
        text = run("report", failed).stdout
        self.assertRegex(text, r"openmp threads=\d !  +[0-9.]+ ")
        self.assertRegex(text, r"(?m)^! openmp.*: 1 of 3 failed: on fire$")
        self.assertIn("! the times are those of the other trials", text)

    def test_control_characters_of_records_are_not_printed(self):
        run("run", self.config(8))
        lines = []
        for line in self.records.read_text().splitlines():
            record = json.loads(line)
            record["run"] += "\x1b[2J"
            record["experiment"] = "an\nother\x7f"
            record["axes"] = {"clus\x1b[2Jters": record["axes"]["clusters"] + "\n\x1b[2J"}
            record["backend"]["label"] += "\x1b]0;title\x07\nline2"
            record["plan"]["baseline"] = "sequential\x1b]0;title\x07\nline2"
            record["published"] = [{"quantity": "ms_per_fit", "value": "about\x1b[2J 9",
                                    "source": "so\x1burce", "note": "no\nte"}]
            if record["backend"]["name"] == "openmp" and record["repeat"] == 1:
                record.update(status="failed", reason="re\x1b[2Jason\nline2", iterations=None)
            lines.append(json.dumps(record) + "\n")
        bad = self.write("bad.jsonl", "".join(lines))
        more = self.write("more.jsonl", "".join(lines + [line.replace('"run": "', '"run": "2')
                                                         for line in lines]))
        outputs = [run("report", bad), run("report", more),
                   run("report", bad, "--json"),
                   *(run("compare", bad, more, "--format", format)
                     for format in ("text", "csv", "markdown", "json"))]
        for done in outputs:
            text = done.stdout + done.stderr
            self.assertEqual([c for c in text if c != "\n" and (c < " " or c == "\x7f")], [])
            for line in text.splitlines():
                self.assertFalse(line.startswith("line2"), line)
        self.assertIn("sequential?]0;title??line2,", outputs[4].stdout)  # CSV of compare

    def test_bad_lines_are_refused(self):
        run("run", self.config(2))
        lines = self.records.read_text().splitlines(keepends=True)
        bad = self.write("bad.jsonl", lines[0] + lines[1].replace('"samples":500', '"samples":-1', 1))
        self.assertEqual(run("report", bad, status=2).stderr,
                         f"lloyd: {bad}:2: 'dataset.samples' is -1, not an integer >= 1\n")
        self.assertIn("cannot be opened", run("report", self.folder, status=2).stderr)
        self.assertIn("holds no records", run("report", self.write("e", ""), status=2).stderr)


if __name__ == "__main__":
    unittest.main()
