"""The report page's statements on its trials: their number and their variation.

Skipped without Chromium, except in CI (CI=true), which must have it."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from browser import Browser, find_browser
from chosen_times import set_times
from program import TestCase, needs_html_report, run

CONFIG = """
experiment: told
dataset:
  blobs: {samples: 500, features: 2, centers: 6}
backends: [sequential, openmp: {threads: [1, 2]}]
baseline: sequential
repeats: 15
sweep: {clusters: [4, 6]}
output: OUTPUT
"""
LABELS = ("sequential", "openmp threads=1", "openmp threads=2")
# A JavaScript expression.
COLUMN = "[...document.querySelectorAll('tbody tr')].map(row => row.cells[{}].textContent)"


@needs_html_report
@unittest.skipUnless(find_browser() or os.environ.get("CI") == "true",
                     "there is no Chromium (install chromium, or name one in CHROMIUM)")
class ReportWords(TestCase):
    def setUp(self):
        super().setUp()
        self.assertIsNotNone(find_browser(), "CI has no Chromium")
        self.output = self.folder / "out"
        run("run", self.write("config.yaml", CONFIG.replace("OUTPUT", str(self.output))))

    def open_with_times(self, *times):
        """The page of the records with these times of sequential, and of openmp with one and two threads."""
        chosen, page = self.folder / "chosen.jsonl", self.folder / "report.html"
        set_times(self.output / "records.jsonl", dict(zip(LABELS, times)), chosen)
        run("report", chosen, "-o", page)
        browser = Browser(find_browser())
        self.addCleanup(browser.__exit__)
        browser.open(page)
        return browser

    def test_words_count_the_trials_that_were_made(self):
        note = "document.querySelector('#summary .note').textContent"
        words = "document.getElementById('words').textContent"
        for times, trials, meaning in (
                (([5] * 15, [4] * 7, [3] * 6), "6 to 15 trials", "the interval holds the true median with 95 %; "),
                (([5] * 15, [4] * 7, [3] * 2), "2 to 15 trials", "the interval holds the true median with 95 % "
                 "(of fewer than 6 trials: their range); "),
                (([5] * 5, [4] * 3, [3]), "1 to 5 trials", "the interval is their range."),
                (([5], [4], [3]), "1 trial", "the interval is their range.")):
            with self.subTest(trials):
                browser = self.open_with_times(*times)
                self.assertIn(f"median of {trials}; {meaning}", browser.run(note))
                self.assertIn(f", {trials} of each with the median shown", browser.run(words))
                self.assertEqual(browser.errors(), [])

    def test_noise_is_a_warning_and_spread_a_column(self):
        headers = "[...document.querySelectorAll('thead th')].map(th => th.textContent)"
        warnings = "[...document.querySelectorAll('#words .warning')].map(p => p.textContent).join()"
        browser = self.open_with_times([10, 12, 8, 11, 9] * 3, [5] * 13 + [50, 60], [3] * 5)
        self.assertRegex(browser.run(warnings), r"Noisy: sequential with .* varies by 15% between rounds, .*\.$")
        names = browser.run(headers)
        self.assertEqual(browser.run(COLUMN.format(names.index("spread")))[:3], ["14.8 %", "0.0 %", ""])
        self.assertEqual(browser.run(COLUMN.format(names.index("outliers")))[:3], ["", "2 of 15", ""])
        click = f"document.querySelectorAll('thead button')[{names.index('spread')}].click()"
        browser.run(click)
        sorted_cells = browser.run(COLUMN.format(names.index("spread")))
        self.assertEqual(sorted_cells, ["0.0 %"] * 2 + ["14.8 %"] * 2 + [""] * 2)
        self.assertEqual(browser.errors(), [])
        browser = self.open_with_times([10, 12, 8, 11, 9], [5] * 5, [3] * 5)
        self.assertFalse({"spread", "outliers"} & set(browser.run(headers)))
        self.assertNotIn("varies by", browser.run(warnings))
        self.assertEqual(browser.errors(), [])


if __name__ == "__main__":
    unittest.main()
