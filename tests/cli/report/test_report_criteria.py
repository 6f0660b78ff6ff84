"""The report's chart of the quality over k: its panels, its marks, and the lines that agreeing backends share.

Skipped without Chromium, except in CI (CI=true), which must have it."""

import json
import os
import pathlib
import sys
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from browser import Browser, find_browser
from program import IRIS, TestCase, needs_html_report, run

CONFIG = f"""
experiment: chosen
dataset: {{file: '{IRIS}'}}
silhouette: true
backends: [sequential, openmp: {{threads: [1, 2]}}]
repeats: 2
sweep: {{clusters: [2, 3, 5], seeding.seed: [1, 2, 3]}}
"""
BACKENDS = ["sequential", "openmp threads=1", "openmp threads=2"]
LABELS = ["inertia (look for the bend)", "simplified silhouette (higher is better)",
          "adjusted Rand index (higher is better)"]
# Final inertia by k, of the seeds 1, 2 and 3.
INERTIAS = {2: (150, 160, 190), 3: (80, 90, 70), 5: (40, 40, 40)}

# JavaScript expressions.
SERIES = "document.querySelectorAll('#criteria svg path.series').length"
INTERVALS = "document.querySelectorAll('#criteria svg .interval').length"
TEXTS = "[...document.querySelectorAll('#criteria svg text:not([class])')].map(text => text.textContent)"
AXIS_LABELS = "[...document.querySelectorAll('#criteria svg .axis-label')].map(text => text.textContent)"
TITLES = "[...document.querySelectorAll('#criteria svg .panel-title')].map(text => text.textContent)"
TOOLTIPS = "[...document.querySelectorAll('#criteria svg .explained')].map(mark => mark.explanation())"
# Texts of the chart that reach beyond its sides.
OUTSIDE = """(() => {
  const chart = document.querySelector('#criteria svg').getBoundingClientRect();
  return [...document.querySelectorAll('#criteria svg text')].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.left < chart.left || box.right > chart.right;
  }).map((text) => text.textContent);
})()"""


@needs_html_report
@unittest.skipUnless(find_browser() or os.environ.get("CI") == "true",
                     "there is no Chromium (install chromium, or name one in CHROMIUM)")
class ReportCriteria(TestCase):
    def setUp(self):
        super().setUp()
        self.assertIsNotNone(find_browser(), "CI has no Chromium")
        self.output = self.folder / "out"

    def run_experiment(self, config=CONFIG, change=lambda record: None):
        """Runs an experiment; `change` is applied to each of its records."""
        run("run", self.write("config.yaml", config), "--output", self.output)
        file = self.output / "records.jsonl"
        records = [json.loads(line) for line in file.read_text().splitlines()]
        for record in records:
            change(record)
        file.write_text("".join(json.dumps(record) + "\n" for record in records))

    def open(self, **arguments):
        page = self.folder / "report.html"
        run("report", self.output, "-o", page)
        browser = Browser(find_browser(), **arguments)
        self.addCleanup(browser.__exit__)
        browser.open(page)
        self.assertNotIn("NaN", browser.run("document.getElementById('sections').innerHTML"))
        self.assertEqual(browser.errors(), [])
        return browser

    @staticmethod
    def choose_inertia(record):
        record["inertia"] = INERTIAS[record["clusters"]][int(record["axes"]["seeding.seed"]) - 1]

    def test_agreeing_backends_are_one_line_of_medians(self):
        self.run_experiment(change=self.choose_inertia)
        browser = self.open()
        self.assertEqual([label for label in browser.run(AXIS_LABELS) if label != "k"], LABELS)
        self.assertEqual(browser.run(SERIES), 3)
        self.assertEqual(browser.run(TEXTS), [", ".join(BACKENDS)])
        tooltips = browser.run(TOOLTIPS)
        self.assertEqual(len(tooltips), 9)
        self.assertEqual(tooltips[0], [", ".join(BACKENDS), "k = 2",
                                       "inertia: median of 3 seeds 160.00, range 150.00 to 190.00",
                                       "seeds 1, 2, 3: 150.00, 160.00, 190.00"])
        self.assertEqual(tooltips[1][2], "inertia: median of 3 seeds 80.000, range 70.000 to 90.000")
        self.assertEqual(tooltips[2][2], "inertia: median of 3 seeds 40.000")
        self.assertRegex(tooltips[8][2], r"^ARI: median of 3 seeds 0\.\d{4}")

    def test_ranges_are_drawn_below_zero_too(self):
        def change(record):
            self.choose_inertia(record)
            record["simplified_silhouette"] = 0.5
            record["adjusted_rand_index"] = (-0.2, -0.1, 0.1)[int(record["axes"]["seeding.seed"]) - 1]

        self.run_experiment(change=change)
        browser = self.open()
        self.assertEqual(browser.run(INTERVALS), 2 + 3, "the inertia of two k, the ARI of all")
        self.assertIn("ARI: median of 3 seeds -0.1000, range -0.2000 to 0.1000", browser.run(TOOLTIPS)[-1])

    def test_a_backend_with_other_values_has_its_own_line(self):
        for criterion, factor, lines in (("inertia", 1.0005, 1), ("inertia", 1.01, 2), ("simplified_silhouette", 0.9, 2)):
            def change(record):
                self.choose_inertia(record)
                record["simplified_silhouette"] = 0.5
                if record["backend"]["label"] == BACKENDS[1] and record["clusters"] == 5:
                    record[criterion] *= factor

            with self.subTest(criterion=criterion, factor=factor):
                self.run_experiment(change=change)
                browser = self.open()
                own = [f"{BACKENDS[0]}, {BACKENDS[2]}", BACKENDS[1]] if lines == 2 else [", ".join(BACKENDS)]
                self.assertEqual(browser.run(TEXTS), own)
                self.assertEqual(browser.run(SERIES), lines * 3)
                for file in self.output.iterdir():
                    file.unlink()

    def test_a_mark_names_the_backends_that_have_it(self):
        def change(record):
            if record["backend"]["label"] == BACKENDS[0] and record["clusters"] == 3:
                record.update(status="failed", reason="chosen")

        self.run_experiment(change=change)
        names = [tooltip[0] for tooltip in self.open().run(TOOLTIPS)]
        self.assertEqual(names[:3], [", ".join(BACKENDS), ", ".join(BACKENDS[1:]), ", ".join(BACKENDS)])

    def test_trials_that_differ_have_a_range(self):
        def change(record):
            record["inertia"] = 50 + 10 * record["repeat"]

        self.run_experiment(CONFIG.replace(", seeding.seed: [1, 2, 3]", ""), change)
        browser = self.open()
        self.assertEqual(browser.run(INTERVALS), 3)
        self.assertEqual(browser.run(TOOLTIPS)[0][2], "inertia 55.000, range 50.000 to 60.000")

    def test_data_sets_and_settings_have_a_panel_each(self):
        self.run_experiment("""
dataset: {blobs: {features: 2}}
backends: [sequential]
repeats: 1
sweep: {dataset.blobs.samples: [300, 400], stop.iterations: [1, 5], clusters: [2, 3], seeding.seed: [1, 2]}
""")
        browser = self.open()
        self.assertEqual(browser.run(TITLES), [f"{samples} samples, iterations {iterations}"
                                               for samples in (300, 400) for iterations in (1, 5)])
        self.assertEqual([len(tooltip) for tooltip in browser.run(TOOLTIPS)], [5] * 8)

    def test_one_k_is_no_chart(self):
        self.run_experiment("""
dataset: {blobs: {features: 2}}
backends: [sequential]
repeats: 1
sweep: {dataset.blobs.samples: [300, 400], seeding.seed: [1, 2]}
""")
        browser = self.open()
        self.assertEqual(browser.run("document.querySelectorAll('#time, #criteria').length"), 1)

    def test_the_filter_and_the_scale_of_k_redraw_it(self):
        self.run_experiment()
        browser = self.open()
        places = "[...document.querySelectorAll('#criteria .explained')].map(mark => mark.getAttribute('transform')).join()"
        linear = browser.run(places)
        self.assertEqual(browser.run("document.querySelector('#criteria select').value"), "linear")
        browser.run("(() => { const f = document.querySelector('#criteria select'); f.value = 'log';"
                    "f.dispatchEvent(new Event('change')); })()")
        self.assertNotEqual(browser.run(places), linear)
        browser.run("document.getElementById('filter').focus()")
        browser.call("Input.insertText", text="openmp")
        self.assertEqual(browser.run(TEXTS), [", ".join(BACKENDS[1:])])
        browser.call("Input.insertText", text=" clusters 5")
        self.assertIn("no two values of k", browser.run("document.querySelector('#criteria svg').textContent"))

    def test_axes_suit_the_values(self):
        ticks = "[...document.querySelectorAll('#criteria svg .tick')].map(text => text.textContent)"
        config = CONFIG.replace(", seeding.seed: [1, 2, 3]", "").replace("silhouette: true\n", "")
        for counts, scale in (("100, 102, 104", "linear"), ("2, 9, 80", "log")):
            def change(record):
                record["inertia"] = 2e7 if record["repeat"] == 0 else 5e7

            self.run_experiment(config.replace("2, 3, 5", counts), change)
            browser = self.open()
            self.assertEqual(browser.run("document.querySelector('#criteria select').value"), scale)
            shown = browser.run(ticks)
            self.assertEqual(shown[:3], counts.split(", "))
            self.assertIn("30M", shown)
            for file in self.output.iterdir():
                file.unlink()

    def test_names_of_many_backends_fit_a_phone(self):
        self.run_experiment(CONFIG.replace("threads: [1, 2]", "threads: [1, 2, 3, 4, 5, 6, 7, 8]"))
        browser = self.open(width=400)
        self.assertEqual(browser.run("document.documentElement.scrollWidth"), 400)
        self.assertEqual(browser.run(OUTSIDE), [])
        names = browser.run(TEXTS)
        self.assertGreater(len(names), 1)
        self.assertEqual(" ".join(names), ", ".join(
            ["sequential", *(f"openmp threads={count}" for count in range(1, 8))]) + " and 1 more")
        self.assertEqual(browser.run("document.querySelectorAll('#criteria svg .panel-title').length"), 0)

    def test_it_is_a_figure(self):
        self.run_experiment()
        figures = self.folder / "figures"
        run("report", self.output, "--figures", figures, env={"CHROMIUM": find_browser()})
        root = ElementTree.parse(figures / "criteria.svg").getroot()
        texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        for text in [", ".join(BACKENDS), *LABELS]:
            self.assertIn(text, texts)
        self.assertEqual(root.find("{http://www.w3.org/2000/svg}title").text, "Quality over k")
        self.assertTrue(root.get("aria-label").startswith("Quality over k"))


if __name__ == "__main__":
    unittest.main()
