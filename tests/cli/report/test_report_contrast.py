"""Colours of the report page in both themes: contrast of marks to the panel, and of texts to their bars.

Skipped without Chromium, except in CI (CI=true), which must have it."""

import json
import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from browser import Browser, find_browser
from program import TestCase, needs_html_report, run

CONFIG = """
experiment: coloured
dataset: {blobs: {samples: 500, features: 2, centers: 3}}
profile: true
backends: [sequential]
repeats: 1
output: OUTPUT
"""
# A colour value of the style sheet as "rgb(r, g, b)".
COLOUR = """(() => {{
  const mark = d3.select('#phases svg').append('path').style('fill', 'var({})');
  const colour = getComputedStyle(mark.node()).fill;
  mark.remove();
  return colour;
}})()"""
# Pairs of the colours of a percentage and of the bar behind it.
PERCENTS = """[...document.querySelectorAll('#phases .inside')].map((text) =>
  [text, text.previousElementSibling].map((node) => getComputedStyle(node).fill))"""


def luminance(colour):
    """Relative luminance of "rgb(r, g, b)", as WCAG 2.2 defines it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@needs_html_report
@unittest.skipUnless(find_browser() or os.environ.get("CI") == "true",
                     "there is no Chromium (install chromium, or name one in CHROMIUM)")
class ReportContrast(TestCase):
    def setUp(self):
        super().setUp()
        self.assertIsNotNone(find_browser(), "CI has no Chromium")
        output = self.folder / "out"
        run("run", self.write("config.yaml", CONFIG.replace("OUTPUT", str(output))))
        page = self.folder / "report.html"
        # A quarter of the time for each phase; the rest is overhead.
        records = output / "records.jsonl"
        record = json.loads(records.read_text())
        record.update(loop_ms=4, closing_ms=0,
                      phase_ms={"transfer": 1, "assignment": 1, "update": 1, "convergence": 0})
        records.write_text(json.dumps(record) + "\n")
        run("report", records, "-o", page)
        self.themes = {}
        for theme in ("light", "dark"):
            browser = Browser(find_browser(), dark=theme == "dark")
            self.addCleanup(browser.__exit__)
            browser.open(page)
            self.themes[theme] = browser

    def test_series_stand_out_from_the_panel(self):
        for theme, browser in self.themes.items():
            panel = browser.run(COLOUR.format("--panel"))
            for series in range(8):
                with self.subTest(theme=theme, series=series):
                    self.assertGreaterEqual(contrast(browser.run(COLOUR.format(f"--series-{series}")), panel), 3)

    def test_percents_can_be_read_on_their_phases(self):
        for theme, browser in self.themes.items():
            percents = browser.run(PERCENTS)
            self.assertEqual(len(percents), 4)
            for phase, (text, bar) in zip(("transfer", "assignment", "update", "overhead"), percents):
                with self.subTest(theme=theme, phase=phase):
                    self.assertGreaterEqual(contrast(text, bar), 4.5)


if __name__ == "__main__":
    unittest.main()
