"""Runs that end before their time, and what their records say."""

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
    """What must be the same whenever and however often a trial is made."""
    # `check`: the first trial after resuming is checked again.
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
        """The records that are outcomes, by trial; fails where a trial has two."""
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
        """Leaves so many records, as a run that was killed would."""
        lines = self.lines()
        self.assertGreater(len(lines), count)
        self.records.write_bytes(b"".join(lines[:count]))
