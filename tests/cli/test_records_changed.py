"""Other programs that change the files of a run while it writes to them: nothing is lost in silence."""

import json
import unittest

from program import TestCase, run

CONFIG = """
dataset: {blobs: {samples: 20000, features: 16, centers: 8}}
clusters: 50
stop: {iterations: 3}
backends: [sequential]
repeats: REPEATS
output: out
"""


class RunNames(TestCase):
    def test_runs_of_one_process_number_and_second_differ(self):
        """In containers every run may be process 1."""
        config = self.write("c.yaml", CONFIG.replace("REPEATS", "1"))
        run("run", config, cwd=self.folder)
        record = json.loads((self.folder / "out" / "records.jsonl").read_text())
        self.assertRegex(record["run"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ-\d+-[0-9a-f]{8}$")


if __name__ == "__main__":
    unittest.main()
