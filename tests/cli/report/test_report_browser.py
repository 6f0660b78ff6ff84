"""The page of a report in headless Chromium: the charts and the controls.

Skipped without Chromium, except in CI (CI=true), which must have it."""

import json
import os
import pathlib
import subprocess
import sys
import time
import unittest
import urllib.parse
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from browser import Browser, find_browser
from program import LLOYD, ROOT, TestCase, needs_html_report, run

CONFIG = """
experiment: drawn
dataset:
  blobs: {samples: 2000, features: 2, centers: 6, seed: 3}
profile: true
backends: [sequential, openmp: {threads: [1, 2]}]
baseline: sequential
repeats: 3
trace: true
sweep: {clusters: [4, 6], dataset.blobs.samples: [500, 2000]}
reference: {source: A paper, quantity: speedup, backend: {openmp: {threads: 2}}, values: [{value: 1.5}]}
output: OUTPUT
"""
FIGURES = ["speedup", "time", "phases", "gflops", "gbs", "criteria", "convergence", "replay", "published-speedup"]

# JavaScript expressions.
COLUMN = "[...document.querySelectorAll('tbody tr')].map(row => row.cells[{}].textContent)"
CLICK = "document.querySelector({!r}).click()"


@needs_html_report
@unittest.skipUnless(find_browser() or os.environ.get("CI") == "true",
                     "there is no Chromium (install chromium, or name one in CHROMIUM)")
class ReportBrowser(TestCase):
    def setUp(self):
        super().setUp()
        self.assertIsNotNone(find_browser(), "CI has no Chromium")
        output = self.folder / "out"
        run("run", self.write("config.yaml", CONFIG.replace("OUTPUT", str(output))))
        self.page = self.folder / "report.html"
        run("report", output, "-o", self.page)

    def open(self, **arguments):
        browser = Browser(find_browser(), **arguments)
        self.addCleanup(browser.__exit__)
        browser.open(self.page)
        return browser

    def assert_quiet(self, browser):
        """Expects no error in the console and no request besides the page."""
        self.assertEqual(browser.errors(), [])
        asked = [url for url in browser.requests() if not url.startswith(("data:", "blob:"))]
        self.assertEqual([urllib.parse.unquote(url) for url in asked], [f"file://{self.page}"])

    def test_every_figure_is_drawn_and_nothing_is_asked_for(self):
        browser = self.open()
        self.assertEqual(browser.run("[...document.querySelectorAll('svg.chart')].map(s => s.closest('section').id)"),
                         FIGURES)
        for figure in FIGURES:
            self.assertGreater(browser.run(f"document.querySelectorAll('#{figure} svg .explained').length")
                               if figure != "replay" else 1, 0, figure)
        self.assertEqual(browser.run("document.querySelectorAll('tbody tr').length"), 12)
        self.assertNotIn("NaN", browser.run("document.getElementById('sections').innerHTML"))
        self.assert_quiet(browser)

    def test_every_axis_has_two_ticks_or_more(self):
        axes = (ROOT / "apps" / "report" / "page" / "charts" / "axes.js").read_text()
        script = """
            const faults = [];
            const check = (ticks, low, high, most, what) => {
              const inside = ticks.every((tick) => tick >= low * 0.999 && tick <= high * 1.001);
              if (ticks.length < 2 || ticks.length > most || !inside) faults.push([what, low, high, most, ticks]);
            };
            for (let low = 0.013; low < 2000; low *= 1.7) {
              for (let ratio = 1.01; ratio < 1e7; ratio *= 1.3) {
                for (const most of [1, 2, 3, 5, 7, 12]) {
                  check(logTicks(low, low * ratio, most), low, low * ratio, Math.max(2, most), 'log');
                  const linear = d3.scaleLinear().domain([low, low * ratio]);
                  check(linearTicks(linear, most), low, low * ratio, 2 * Math.max(4, most), 'linear');
                }
              }
              const one = d3.scaleLog().domain(logDomain([low], 4)).range([0, 250]);
              check(ticksAtValues([low], one, 38, 5), low / 3, low * 3, 6, 'value');
              check(linearTicks(d3.scaleLinear().domain(linearDomain([low, low])), 5), low / 2, low * 2, 9, 'single');
            }
            const ranks = d3.scaleLog().domain(logDomain([1], 4)).range([0, 250]);
            check(ticksAtValues([1], ranks, 38, 5), 1, 2, 2, 'ranks');
            return faults.slice(0, 3);
        """
        self.assertEqual(self.open().run(f"(() => {{ {axes}\n{script} }})()"), [])

    def test_figures_are_those_of_the_page(self):
        figures = self.folder / "figures"
        run("report", self.folder / "out", "--figures", figures, env={"CHROMIUM": find_browser()})
        self.assertEqual(sorted(file.stem for file in figures.iterdir()), sorted(FIGURES))
        for file in figures.iterdir():
            root = ElementTree.parse(file).getroot()
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            self.assertGreater(len(list(root.iter())), 10, file)
            self.assertGreater(float(root.get("width")), 600)
            self.assertNotIn("var(--", file.read_text(), "the page's colours are resolved")

    def test_several_data_sets_have_a_panel_each(self):
        names = ("few.csv", "many.csv")
        for name, rows, width in zip(names, (60, 90), (2, 3)):
            cells = [",".join(str((i * (j + 3)) % 11) for j in range(width)) for i in range(rows)]
            self.write(name, ",".join("abc"[:width]) + "\n" + "\n".join(cells) + "\n")
        config = self.write("files.yaml", """
sweep: {dataset: [{file: few.csv}, {file: many.csv}], clusters: [2, 3, 4]}
restarts: 2
backends: [sequential]
repeats: 2
""")
        run("run", config, "--output", self.folder / "files", cwd=self.folder)
        run("report", self.folder / "files", "-o", self.page)
        browser = self.open()
        for figure in ("time", "criteria"):
            titles = f"[...document.querySelectorAll('#{figure} .panel-title')].map(t => t.textContent)"
            self.assertEqual(browser.run(titles), list(names), figure)
        choices = "[...document.querySelectorAll('#time select option')].map(o => o.textContent)"
        self.assertEqual(browser.run(choices)[0], "clusters")
        self.assertEqual(browser.run("[...document.querySelectorAll('#words .facts')].map(p => p.textContent)"),
                         ["few.csv: n = 60; d = 2; k = 2, 3, 4; seed = 0; restarts = 2",
                          "many.csv: n = 90; d = 3; k = 2, 3, 4; seed = 0; restarts = 2"])
        self.assert_quiet(browser)

    def test_inertia_against_time_is_drawn_where_results_differ(self):
        records = self.folder / "out" / "records.jsonl"
        lines = [json.loads(line) for line in records.read_text().splitlines()]
        for line in lines:
            if line["clusters"] == 4 and line["backend"]["label"] == "openmp threads=2":
                line["inertia"] *= 1.01
        records.write_text("".join(json.dumps(line) + "\n" for line in lines))
        run("report", self.folder / "out", "-o", self.page)
        browser = self.open()
        titles = browser.run("[...document.querySelectorAll('#quality .panel-title')].map(t => t.textContent)")
        self.assertEqual(len(titles), 2, titles)
        self.assertTrue(all("clusters 4" in title for title in titles), titles)
        self.assert_quiet(browser)

    def test_shares_of_phases_are_those_of_the_table(self):
        records = self.folder / "out" / "records.jsonl"
        lines = [json.loads(line) for line in records.read_text().splitlines()]
        for line in lines:  # shares of 90, 10 and 50 %, while the medians are 10 and 90 ms
            loop, assignment = ((10, 9), (100, 10), (1000, 500))[line["repeat"]]
            line.update(loop_ms=loop, closing_ms=0, fit_ms=loop, phase_ms={"assignment": assignment})
        records.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.assertEqual(run("report", self.folder / "out").stdout.count(" 50%"), 2 * 12)
        run("report", self.folder / "out", "-o", self.page)
        browser = self.open()
        shares = browser.run("[...document.querySelectorAll('#phases .inside')].map(text => text.textContent)")
        self.assertEqual(shares, ["50 %"] * 2 * 12)
        self.assert_quiet(browser)

    def test_a_speedup_is_on_one_line_and_the_table_fits_a_narrow_window(self):
        browser = self.open(width=400)
        headers = browser.run("[...document.querySelectorAll('thead th')].map(th => th.textContent)")
        column = headers.index("speedup")
        wrap = browser.run(f"[...document.querySelectorAll('tbody tr')].map(row => row.cells[{column}])"
                           ".filter(cell => cell.textContent.includes('(')).map(cell => getComputedStyle(cell).whiteSpace)")
        self.assertEqual(set(wrap), {"nowrap"})
        self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), 400)
        self.assertLessEqual(browser.run("parseFloat(getComputedStyle(document.querySelector('tbody td')).paddingLeft)"), 8)

    def test_columns_out_of_view_are_announced(self):
        scroll = "document.querySelector('#summary .scroll')"
        hidden = (f"(() => {{ const frame = {scroll}.getBoundingClientRect(); return [...document.querySelectorAll("
                  "'#summary th')].map(th => th.getBoundingClientRect()).filter(box => box.right > frame.right + 1 || "
                  "box.left < frame.left - 1).length; })()")
        note = "document.querySelector('.out-of-view').textContent"
        announced = f"(parseInt({note}) || 0) === {hidden}"
        browser = self.open(width=1300)
        browser.wait(announced)
        self.assertTrue(browser.run(f"{scroll}.clientWidth >= Math.min({scroll}.scrollWidth, 1250)"),
                        "the table may be wider than the text")
        browser = self.open(width=400)
        browser.wait(announced)
        self.assertRegex(browser.run(note), r"^\d+ columns out of view: scroll the table sideways$")
        browser.run(f"{scroll}.scrollLeft = {scroll}.scrollWidth")
        browser.wait(f"{scroll}.className === 'scroll cut-left'")
        browser.wait(announced)
        self.assert_quiet(browser)

    def test_the_table_uses_the_height_of_the_window(self):
        browser = self.open(height=1400)
        self.assertGreater(
            browser.run("parseFloat(getComputedStyle(document.querySelector('.scroll')).maxHeight)"), 1200)

    def test_records_of_all_kinds_are_drawn_without_error(self):
        drawn = 0
        for records in sorted((ROOT / "tests" / "fuzz" / "seeds" / "records").glob("*.jsonl")):
            if subprocess.run([LLOYD, "report", records, "-o", self.page], capture_output=True).returncode == 0:
                browser = self.open()
                self.assertGreater(browser.run("document.querySelectorAll('tbody tr').length"), 0, records)
                self.assertNotIn("NaN", browser.run("document.getElementById('sections').innerHTML"), records)
                self.assert_quiet(browser)
                drawn += 1
        self.assertGreaterEqual(drawn, 5)

    def test_ceilings_are_those_of_the_rows_types(self):
        records = self.folder / "types"
        run("run", self.write("types.yaml", "dataset: {blobs: {samples: 500}}\nclusters: 3\nbackends: [sequential]\n"
                                            "repeats: 1\nsweep: {dataset.blobs.samples: [500, 1000], "
                                            f"dataset.dtype: [float32, float64]}}\noutput: {records}\n"))
        ceilings = {"instruction_set": "AVX2", "threads": 1, "read_gbs": {"one_thread": 5, "all_threads": 5}}
        for dtype, rate in (("float32", 2000), ("float64", 1000)):
            ceilings[f"{dtype}_gflops"] = {"one_thread": rate, "all_threads": rate}
        doctor = self.write("doctor.json", json.dumps({"cpu": {"model": "x"}, "ceilings": ceilings}))
        run("report", records, "-o", self.page, "--ceilings", doctor)
        browser = self.open()
        labels = ("[...document.querySelectorAll('#gflops svg text.small')].map(t => t.textContent)"
                  ".filter(t => t.startsWith('ceiling'))")
        self.assertEqual(browser.run(labels), ["ceiling for float32, 1 thread", "ceiling for float64, 1 thread"])
        self.assertEqual(browser.run("document.querySelectorAll('#gflops svg .reference').length"), 2)
        browser.run("document.getElementById('filter').focus()")
        browser.call("Input.insertText", text="float64")
        self.assertEqual(browser.run(labels), ["ceiling for float64, 1 thread"])
        self.assert_quiet(browser)

    def test_filter_chooses_rows_and_marks(self):
        browser = self.open()
        marks = "document.querySelectorAll('#time svg .explained').length"
        self.assertEqual(browser.run(marks), 12)
        browser.run("document.getElementById('filter').focus()")
        browser.call("Input.insertText", text="threads=2 clusters 4")
        self.assertEqual(browser.run(COLUMN.format(2)), ["openmp threads=2"] * 2)
        self.assertEqual(browser.run("document.querySelector('.count').textContent"), "2 of 12 rows")
        self.assertEqual(browser.run(marks), 2)
        browser.call("Input.insertText", text=" nothing")
        self.assertEqual(browser.run("document.querySelectorAll('tbody tr').length"), 0)
        self.assertIn("Nothing to draw", browser.run("document.querySelector('#time svg').textContent"))
        self.assert_quiet(browser)

    def test_columns_sort_both_ways(self):
        browser = self.open()
        headers = browser.run("[...document.querySelectorAll('thead th')].map(th => th.textContent)")
        for name in ("samples", "ms/fit", "speedup", "backend"):
            column = headers.index(name)
            click = f"document.querySelectorAll('thead button')[{column}].click()"
            browser.run(click)
            rows = browser.run(COLUMN.format(column))
            # The number of a cell such as "1,234" or "1.2 (1.1 - 1.3)".
            value = (lambda text: text) if name == "backend" else (
                lambda text: float(text.split()[0].replace(",", "")))
            numbers = [value(text) for text in rows if text != "baseline"]
            self.assertEqual(numbers, sorted(numbers), name)
            self.assertNotIn("baseline", rows[:len(numbers)], "what has no number comes last")
            browser.run(click)
            down = [value(text) for text in browser.run(COLUMN.format(column)) if text != "baseline"]
            self.assertEqual(down, sorted(numbers, reverse=True), name)
            self.assertEqual(browser.run(f"document.querySelectorAll('thead th')[{column}].ariaSort"), "descending")
        self.assert_quiet(browser)

    def test_table_is_copied(self):
        browser = self.open()
        browser.run("window.copied = []; navigator.clipboard.writeText = async text => { copied.push(text); }")
        browser.run("window.copiers = [...document.querySelectorAll('#summary .controls button')]; 0")
        for index in (0, 1):
            browser.run(f"copiers[{index}].click()")
            browser.wait(f"copied.length > {index}")
        tsv, markdown = browser.run("copied")
        lines = [line.split("\t") for line in tsv.splitlines()]
        self.assertEqual([len(line) for line in lines], [len(lines[0])] * 13)
        self.assertEqual(lines[0][:3], ["clusters", "samples", "backend"])
        self.assertEqual(markdown.splitlines()[1].count("---"), len(lines[0]))
        self.assertEqual(len(markdown.splitlines()), 14)
        self.assert_quiet(browser)

    def test_replay_plays_steps_and_slides(self):
        browser = self.open()
        text = "document.querySelector('#replay .frame').textContent"
        places = "[...document.querySelectorAll('#replay .centroid')].map(c => c.getAttribute('transform')).join()"
        self.assertRegex(browser.run(text), r"^iteration 0 of \d+, inertia ")
        first = browser.run(places)
        self.assertNotIn("NaN", first)
        browser.run(CLICK.format("#replay .step"))
        self.assertRegex(browser.run(text), r"^iteration 1 of ")
        self.assertNotEqual(browser.run(places), first)
        browser.run(CLICK.format("#replay .back"))
        self.assertEqual(browser.run(places), first)
        browser.run("const s = document.querySelector('#replay input'); s.value = s.max; s.dispatchEvent(new Event('input'))")
        last = browser.run(text)
        self.assertRegex(last, r"^iteration (\d+) of \1, inertia ")
        browser.run(CLICK.format("#replay .play"))
        self.assertEqual(browser.run("document.querySelector('#replay .play').textContent"), "Pause")
        browser.wait(f"/^iteration 2 /.test({text})")
        browser.run(CLICK.format("#replay .play"))
        paused = browser.run(text)
        time.sleep(1)
        self.assertEqual(browser.run(text), paused)
        browser.run("const f = document.querySelector('#replay select'); f.value = 3; f.dispatchEvent(new Event('change'))")
        self.assertRegex(browser.run(text), r"^iteration 0 of ")
        self.assertEqual(browser.run("document.querySelectorAll('#replay .centroid').length"), 6)
        self.assert_quiet(browser)

    def test_replay_says_how_many_samples_it_shows(self):
        browser = self.open()
        names = browser.run("[...document.querySelectorAll('#replay option')].map(option => option.textContent)")
        self.assertEqual(len(names), 4)
        for index, name in list(enumerate(names))[::-1]:
            browser.run(f"(() => {{ const f = document.querySelector('#replay select'); f.value = {index};"
                        "f.dispatchEvent(new Event('change')); })()")
            note = browser.run("document.querySelector('#replay .note').textContent")
            self.assertIn("1,200 of the 2,000 samples are" if "2,000" in name else "All 500 samples are", note, name)
        self.assert_quiet(browser)

    def test_theme_follows_the_system_and_the_button(self):
        ground = "getComputedStyle(document.body).backgroundColor"
        light, dark = self.open(), self.open(dark=True)
        colours = light.run(ground), dark.run(ground)
        self.assertEqual(colours, ("rgb(252, 252, 251)", "rgb(20, 21, 24)"))
        for browser, other in ((light, colours[1]), (dark, colours[0])):
            browser.run(CLICK.format("#theme"))
            self.assertEqual(browser.run(ground), other)
            self.assert_quiet(browser)

    def test_charts_are_saved_as_svg(self):
        for figure in ("speedup", "phases", "replay"):
            with self.subTest(figure):
                browser = self.open(dark=True)
                browser.run(CLICK.format(f"#{figure} .save"))
                name, text = browser.downloaded()
                self.assertRegex(name, r"^drawn-[a-z0-9-]+\.svg$")
                root = ElementTree.fromstring(text)
                self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
                self.assertGreater(float(root.get("width")), 500)
                self.assertNotIn("var(", text, "colours of the page's style sheet")
                self.assertNotIn("class=", text)
                self.assertIn("rgb(27, 29, 33)", text, "the ground that it was seen on")
                texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
                self.assertGreater(len(texts), 5)
                self.assert_quiet(browser)

    def test_marks_are_explained_to_mouse_and_keyboard(self):
        browser = self.open()
        tooltip = "document.getElementById('tooltip').hidden ? '' : document.getElementById('tooltip').innerText"
        browser.run("document.querySelector('#time').scrollIntoView()")
        place = browser.run("(() => { const r = document.querySelector('#time .explained').getBoundingClientRect();"
                            "return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=place[0], y=place[1])
        shown = browser.wait(tooltip)
        self.assertRegex(shown, r"3 samples: \S+, \S+, \S+")
        self.assertIn("median", shown)
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
        browser.wait(f"({tooltip}) === ''")
        browser.run("document.querySelector('#time svg').focus()")
        browser.press("ArrowRight")
        first = browser.wait(tooltip)
        browser.press("ArrowRight")
        self.assertNotEqual(browser.run(tooltip), first)
        browser.press("ArrowLeft")
        self.assertEqual(browser.run(tooltip), first)
        self.assertIn("samples", browser.run("document.getElementById('announce').textContent"))
        browser.press("Escape")
        self.assertEqual(browser.run(tooltip), "")
        self.assert_quiet(browser)

    def test_controls_have_names_and_a_phone_has_room(self):
        browser = self.open(width=390)
        self.assertEqual(browser.run("document.documentElement.scrollWidth"), 390)
        nameless = browser.run("[...document.querySelectorAll('button, select, input, svg.chart')].filter(e => "
                               "!(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')))"
                               ".map(e => e.outerHTML)")
        self.assertEqual(nameless, [])
        self.assert_quiet(browser)

    def test_scaling_is_drawn_over_ranks(self):
        """Records of two numbers of threads become those of two numbers of ranks."""
        config = self.write("ranks.yaml", """
dataset: {blobs: {features: 2, centers: 6, seed: 3}}
backends: [openmp: {threads: [1, 2]}]
repeats: 2
sweep: {dataset.blobs.samples: [500, 1000]}
""")
        output = self.folder / "ranks"
        run("run", config, "--output", output)
        lines = (output / "records.jsonl").read_text().splitlines()
        with open(output / "records.jsonl", "w") as file:
            for record in map(json.loads, lines):
                ranks = record["backend"]["parameters"]["threads"]
                record["ranks"] = ranks
                record["backend"]["label"] = f"openmp ranks={ranks}"
                times = {500: {1: 8, 2: 4}, 1000: {1: 16, 2: 10}}
                record["fit_ms"] = times[record["dataset"]["samples"]][ranks]
                file.write(json.dumps(record, separators=(",", ":")) + "\n")
        run("report", output, "-o", self.page)
        self.assertIn("openmp ranks=2", run("report", output).stdout)
        self.assertIn(",ranks,", run("report", output, "--format", "csv").stdout.splitlines()[0])
        browser = self.open()
        select = "(() => {{ const f = document.querySelector('#{} select'); f.value = '{}'; f.dispatchEvent(new Event('change')); }})()"
        marks = "document.querySelectorAll('#{} svg .explained').length"
        label = "[...document.querySelectorAll('#{} svg .axis-label')].map(t => t.textContent).includes('{}')"
        # Two panels with a mark for each number of ranks, and as many for the ideal speedup; one weak series.
        for figure, what, count in (("strong-scaling", "time", 4), ("strong-scaling", "speedup", 8),
                                    ("strong-scaling", "efficiency", 4), ("weak-scaling", "time", 2),
                                    ("weak-scaling", "speedup", 4), ("weak-scaling", "efficiency", 2)):
            with self.subTest(f"{figure}, {what}"):
                browser.run(select.format(figure, what))
                self.assertEqual(browser.run(marks.format(figure)), count)
                self.assertTrue(browser.run(label.format(figure, "ranks")))
        # 500 samples on 1 rank take 8 ms, 1000 samples on 2 ranks 10 ms.
        titles = browser.run("[...document.querySelectorAll('#weak-scaling svg .panel-title')].map(t => t.textContent)")
        self.assertEqual(titles, ["500 samples per rank"])
        tips = "[...document.querySelectorAll('#{} svg .explained')].map(mark => mark.explanation().at(-1))"
        self.assertEqual(browser.run(tips.format("weak-scaling")), ["scaled speedup 1.00 over 1 rank, efficiency 100.0 %",
                                                                    "scaled speedup 1.60 over 1 rank, efficiency 80.0 %"])
        self.assertIn("speedup 2.00 over 1 rank, efficiency 100.0 %", browser.run(tips.format("strong-scaling")))
        self.assertIn("speedup 1.60 over 1 rank, efficiency 80.0 %", browser.run(tips.format("strong-scaling")))
        self.assertNotIn("NaN", browser.run("document.getElementById('sections').innerHTML"))
        self.assert_quiet(browser)


if __name__ == "__main__":
    unittest.main()
