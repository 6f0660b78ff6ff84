"""The program accepts the examples of the documentation."""

import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ROOT, TestCase, run

PAGE = ROOT / "docs" / "experiments.md"
SETTING_KEYS = ["dataset", "clusters", "seeding", "restarts", "stop", "empty_clusters", "profile", "cold_l2"]
KEYS = ["experiment", *SETTING_KEYS, "backends", "baseline", "optional", "repeats", "until",
        "checks", "silhouette", "counters", "repeat_throttled", "order_seed", "trace", "isolate", "timeout",
        "memory_limit", "cpus", "ranks", "launcher", "sweep", "reference", "output"]


def examples(page):
    return re.findall(r"(?ms)^```yaml\n(.*?)^```", page.read_text())


class Documentation(TestCase):
    def dry_run(self, text):
        """Plans the example in a folder with a copy of the data that it may name."""
        folder = self.folder / "examples"
        folder.mkdir(exist_ok=True)
        data = self.folder / "data"
        if not data.exists():
            data.symlink_to(ROOT / "configs" / "data")
        file = folder / "example.yaml"
        # The processor in the example may not be available.
        file.write_text(re.sub(r"(?m)^cpus: 0$", f"cpus: {min(os.sched_getaffinity(0))}", text))
        return run("run", file, "--dry-run").stdout

    def test_experiments_of_the_page_are_accepted(self):
        found = examples(PAGE)
        self.assertGreaterEqual(len(found), 5)
        for text in found:
            with self.subTest(text):
                self.assertIn("backends:", text)  # each is a complete experiment
                self.assertIn(" = ", self.dry_run(text))

    def test_experiments_of_the_readme_are_accepted(self):
        found = examples(ROOT / "README.md")
        self.assertEqual(len(found), 1)
        self.dry_run(found[0])

    def test_page_has_every_key_and_no_other(self):
        section = PAGE.read_text().split("## Keys")[1].split("## Axes")[0]
        documented = set(re.findall(r"(?m)^\| `([a-z0-9_.]+)` \|", section))
        self.assertEqual({key for key in documented if "." not in key}, set(KEYS))
        for key in sorted(documented):
            with self.subTest(key):
                # A wrong value must be refused as a value of that key, not as an unknown key.
                outer, _, inner = key.partition(".")
                value = "[[]]"
                for name in reversed(inner.split(".") if inner else []):
                    value = f"{{{name}: {value}}}"
                config = {"dataset": "{blobs: {}}", "backends": "[sequential]", outer: value}
                text = "".join(f"{name}: {given}\n" for name, given in config.items())
                refusal = run("run", self.write("c.yaml", text), "--dry-run", status=2).stderr
                self.assertNotIn("unknown key", refusal)

    def test_the_workflow_uses_options_that_exist(self):
        workflows = re.findall(r"(?ms)^```yml\n(.*?)^```", PAGE.read_text())
        self.assertEqual(len(workflows), 1)
        calls = re.findall(r"bin/lloyd ([a-z]+) (.*)", workflows[0])
        self.assertEqual({command for command, _ in calls}, {"run", "compare"})
        for command, arguments in calls:
            said = run(command, "--help").stdout
            for option in re.findall(r"--[a-z-]+", arguments):
                self.assertIn(option, said)

    def test_records_have_the_keys_of_the_page(self):
        import json
        config = self.write("c.yaml", "dataset: {blobs: {samples: 50}}\nbackends: [sequential]\ntrace: true\n")
        run("run", config, "--output", self.folder / "out", "--repeats", "1")
        record = json.loads((self.folder / "out" / "records.jsonl").read_text())
        section = PAGE.read_text().split("## Records")[1].split("## Summary")[0]
        rows = re.findall(r"(?m)^\| (`.*?) \| ", section)
        documented = {key for row in rows for key in re.findall(r"`([a-z0-9_]+)`", row)}
        # This record lacks release_failure because the session was released without an error.
        self.assertEqual(documented - {"release_failure"}, set(record))


if __name__ == "__main__":
    unittest.main()
