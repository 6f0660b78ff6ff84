"""`lloyd run --resume` of experiments with `until`: it completes begun rounds and starts no others."""

import json
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import LLOYD, run
from resume_case import ResumeCase

# No interval becomes this narrow, so a setting ends by `max_seconds`.
CONFIG = """
experiment: rounds
dataset: {blobs: {samples: 2000, features: 4, centers: 8}}
clusters: 8
stop: {iterations: 20}
backends: [sequential, openmp: {threads: [1, 2]}]
repeats: 2
until: {relative_error: 1.0e-9, max_seconds: 0.5}
sweep: {seeding.seed: [1, 2]}
output: OUTPUT
"""


class ResumeUntil(ResumeCase):
    def repeats(self):
        """The number of trials of each pair of setting and variant."""
        found = {}
        for setting, variant, _ in self.outcomes():
            found[setting, variant] = found.get((setting, variant), 0) + 1
        return found

    def test_a_run_that_its_seconds_ended_is_complete(self):
        # Long enough for a third round even on a busy machine.
        config = self.config(CONFIG, **{"max_seconds: 0.5": "max_seconds: 3"})
        first = run("run", config)
        self.assertGreater(min(self.repeats().values()), 2)
        data = self.records.read_bytes()
        again = run("run", config, "--resume")
        self.assertIn("is complete: nothing is left to do", again.stderr)
        self.assertEqual(self.records.read_bytes(), data)
        self.assertEqual(again.stdout, first.stdout)

    def test_an_interrupted_round_is_finished_and_the_next_setting_has_its_own(self):
        config = self.config(CONFIG, **{"max_seconds: 0.5": "max_seconds: 3"})
        process = subprocess.Popen([LLOYD, "run", str(config)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        while process.poll() is None and len(self.lines()) < 11:
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)
        rounds = 1 + max(json.loads(line)["repeat"] for line in self.lines())
        self.assertGreater(rounds, 2)
        said = run("run", config, "--resume").stderr
        self.assertRegex(said, r"resuming the run \S+ in .+: \d+ of 12 trials left")
        repeats = self.repeats()
        self.assertEqual([repeats[0, variant] for variant in range(3)], [rounds] * 3)
        for variant in range(3):
            self.assertGreater(repeats[1, variant], 2)
        self.assertIn("is complete", run("run", config, "--resume").stderr)
        self.assertEqual(self.repeats(), repeats)


if __name__ == "__main__":
    unittest.main()
