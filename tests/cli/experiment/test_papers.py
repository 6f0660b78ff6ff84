"""The experiments of the papers: each can be planned in full, and runs in the reduced form that its file gives."""

import json
import pathlib
import re
import shlex
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ROOT, SANITIZED, TestCase, run, run_json

PAPERS = sorted((ROOT / "configs" / "papers").glob("*.yaml"))
# Number of published values in each file; some tests check the values themselves.
VALUES = {"berkeley_figure_8": 2, "berkeley_phases": 4 * 8, "unifi_table_2": 5,
          "unifi_table_2_largest": 1, "unifi_table_3": 5, "unifi_table_4": 9,
          "v1_to_v4_profile": 3, "v1_to_v4_speedup": 3, "zechner_figures_7_to_9": 1}
WITHOUT_REFERENCE = {"tutorial_1d"}


def cut_command(file):
    """The arguments of the command that the file's first comment gives for a machine without a GPU."""
    lines = [line[1:].strip() for line in file.read_text().splitlines() if line.startswith("#   ")]
    command = shlex.split(" ".join(lines))
    assert command[:3] == ["lloyd", "run", str(file.relative_to(ROOT))], command
    return command[3:]


def is_cuda(row):
    return row["backend"].startswith("cuda-")


class Papers(TestCase):
    def test_every_file_is_planned(self):
        self.assertGreaterEqual(len(PAPERS), 14)
        for file in PAPERS:
            with self.subTest(file.stem):
                done = run("run", file, "--dry-run", "--json")
                plan = json.loads(done.stdout)
                self.assertEqual(plan["experiment"], file.stem)
                self.assertEqual(plan["output"], f"results/{file.stem}")
                fits = plan["fits"]
                values = [p for fit in fits for p in fit["published"] if p["value"] is not None]
                self.assertEqual(len(values), VALUES.get(file.stem, 0))
                named = any(fit["published"] for fit in fits)
                self.assertEqual(named, file.stem not in WITHOUT_REFERENCE)
                for fit in fits:
                    if not is_cuda(fit):
                        self.assertIsNone(fit["skip"], fit)
                # One line for each plugin that is missing from this build, and no others.
                missing = {fit["backend"].split()[0] for fit in fits
                           if fit["skip"] == "no plugin of this name can be loaded"}
                lines = done.stderr.splitlines()
                self.assertEqual(len(lines), len(missing), lines)
                for line in lines:
                    self.assertRegex(line, r"^lloyd: cuda-[a-z-]+ is optional and skipped: ")

    def test_values_are_those_of_the_files(self):
        for file in PAPERS:
            with self.subTest(file.stem):
                written = set(re.findall(r"\bvalue: \"?([^\"}]+)\"?}", file.read_text()))
                planned = {p["value"] for fit in run_json("run", file, "--dry-run")["fits"]
                           for p in fit["published"] if p["value"] is not None}
                self.assertEqual({str(value) for value in planned},
                                 {str(float(text)) if re.fullmatch(r"[0-9.]+", text) else text
                                  for text in written})

    @unittest.skipIf(SANITIZED, "the plain build shows it")
    def test_every_file_runs_cut(self):
        for file in PAPERS:
            with self.subTest(file.stem):
                output = self.folder / file.stem
                printed = run("run", file, *cut_command(file), "--output", output).stdout
                table = printed[:printed.index("\nrecords: ")]
                self.assertEqual(run("report", output).stdout, table)
                rows = run_json("report", output)["rows"]
                for row in rows:
                    if not is_cuda(row):
                        self.assertEqual((row["trials"], row["problem"]), (2, ""), row)
                    elif row["trials"] == 0:
                        self.assertRegex(row["problem"], "^skipped: ")
                self.assertEqual(" published" in table or "\npublished" in table,
                                 file.stem not in WITHOUT_REFERENCE)

    def test_published_numbers_stand_beside_the_measured_ones(self):
        file = ROOT / "configs" / "papers" / "unifi_table_2.yaml"
        output = self.folder / "out"
        table = run("run", file, *cut_command(file), "--output", output).stdout
        self.assertRegex(table, r"(?m)^ *samples +backend\b.*\bspeedup( over float32)? +published$")
        self.assertRegex(table, r"\n +1000 .*\b0\.808\n")
        self.assertRegex(table, r"\n +10000 .*\b6\.50\n")
        self.assertIn("\npublished speedup: UniFi report (2025), Table 2\n", table)
        rows = [row for row in run_json("report", output)["rows"]
                if row["published_speedup"] is not None]
        self.assertEqual([(row["dataset.blobs.samples"], row["published_speedup"]) for row in rows],
                         [(1000, 0.808), (10000, 6.504)])
        self.assertTrue(all("layout=soa" in row["backend"] for row in rows))

    def test_phases_and_rates_are_measured(self):
        file = ROOT / "configs" / "papers" / "berkeley_phases.yaml"
        output = self.folder / "out"
        table = run("run", file, *cut_command(file), "--output", output).stdout
        for part in (" assignment ", " update ", " overhead ", " GFLOP/s ", " GB/s\n", "about 40\n"):
            self.assertIn(part, table)
        for row in run_json("report", output)["rows"]:
            percent = (row["transfer_percent"] + row["assignment_percent"] + row["update_percent"]
                       + row["overhead_percent"])
            # Medians of two trials are means, so they add up.
            self.assertAlmostEqual(percent, 100, places=6)
            self.assertGreater(row["gflop_per_s"], 0)

    def test_page_lists_every_file(self):
        page = (ROOT / "configs" / "papers" / "README.md").read_text()
        self.assertEqual(re.findall(r"(?m)^\| `([a-z0-9_]+)\.yaml` \|", page),
                         [file.stem for file in PAPERS])


if __name__ == "__main__":
    unittest.main()
