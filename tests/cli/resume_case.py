"""Runs that end early, and their records."""

import json

from program import TestCase

CONFIG = """
experiment: resumed
dataset:
  blobs: {samples: 20000, features: 4, centers: 8, seed: 1}
clusters: 8
stop: {iterations: 40}
backends: [sequential, openmp: {threads: [1, 2]}]
baseline: sequential
repeats: 10
sweep: {seeding.seed: [1, 2]}
output: OUTPUT
"""
TRIALS = 60


def without_times(record):
    """The part of a record that does not depend on when and how often the trial was run."""
    # `check` differs because the first trial after resuming is checked again.
    moving = ("run", "time", "machine", "process", "conditions", "phase_ms", "check")
    kept = {key: value for key, value in record.items()
            if key not in moving and not key.endswith("_ms")}
    kept["seeding"] = {key: value for key, value in record["seeding"].items() if key != "ms"}
    return kept


def trial(record):
    return record["plan"]["setting"], record["plan"]["variant"], record["repeat"]


class ResumeCase(TestCase):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "results"
        self.records = self.output / "records.jsonl"

    def config(self, text=CONFIG, **replacements):
        for old, new in replacements.items():
            text = text.replace(old, new)
        return self.write("config.yaml", text.replace("OUTPUT", str(self.output)))

    def lines(self):
        data = self.records.read_bytes() if self.records.exists() else b""
        return data.splitlines(keepends=True)

    def outcomes(self):
        """The outcome of each trial; fails if a trial has two."""
        found = {}
        for line in self.lines():
            record = json.loads(line)
            if record["status"] != "cancelled":
                self.assertNotIn(trial(record), found)
                found[trial(record)] = record
        return found

    def assert_same_outcomes(self, whole, resumed):
        self.assertEqual(sorted(resumed), sorted(whole))
        for place, record in whole.items():
            self.assertEqual(without_times(resumed[place]), without_times(record))

    def keep_lines(self, count):
        """Keeps this many records, as after a killed run."""
        lines = self.lines()
        self.assertGreater(len(lines), count)
        self.records.write_bytes(b"".join(lines[:count]))
