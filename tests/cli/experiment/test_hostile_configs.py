"""Malicious experiment files: long, deeply nested, broken or not text. Each ends with one sentence, in time linear in
the file's size.
"""

import json
import os
import pathlib
import resource
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import TestCase, run

HEAD = b"dataset: {blobs: {samples: 50}}\nbackends: [sequential]\n"


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def numbers(count, form):
    return ",".join(form.format(i) for i in range(1, count + 1)).encode()


class HostileConfigs(TestCase):
    def refusal(self, text, *arguments):
        file = self.write("c.yaml", text)
        done = run("run", file, "--dry-run", "--output", self.folder / "out", *arguments, status=2)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertLess(len(done.stderr), 3000)
        return done.stderr.replace(f"lloyd: {file}:", "").strip()

    def assert_linear(self, config, size, **arguments):
        """Quadrupling the size about quadruples the processor time; a quadratic parser would need 16 times as much."""
        seconds = []
        for count in (size, 4 * size):
            before = cpu_seconds()
            run("run", self.write("c.yaml", config(count)), "--dry-run", **arguments)
            seconds.append(cpu_seconds() - before)
        self.assertLess(seconds[1], 9 * seconds[0], seconds)

    def test_unknown_keys_take_time_by_their_number(self):
        def config(count):
            return HEAD + b"".join(b"key%d: 1\n" % i for i in range(count))
        self.assert_linear(config, 20000, status=2)
        self.assertRegex(self.refusal(config(80000)), "^3:1: unknown key 'key0' .*; so are 79999 more keys$")

    def test_the_parent_of_a_link_is_that_of_its_target(self):
        (self.folder / "a/sub").mkdir(parents=True)
        (self.folder / "link").symlink_to("a/sub")
        self.write("a/data.csv", "1,2\n3,4\n5,6\n7,9\n")
        self.write("a/start.csv", "1,2\n3,4\n")
        self.write("data.csv", "1,2\n")
        self.write("start.csv", "100,100\n")
        config = self.write("c.yaml", "dataset: {file: link/../data.csv}\nseeding: {file: ./link/../start.csv}\n"
                                      "clusters: 2\nbackends: [sequential]\nrepeats: 1\n")
        run("run", config, "--output", self.folder / "out")
        record = json.loads((self.folder / "out/records.jsonl").read_text().splitlines()[0])
        self.assertEqual(record["dataset"]["samples"], 4)

    def test_an_empty_value_of_an_axis_is_refused_at_its_place(self):
        self.assertEqual(self.refusal(HEAD + b"sweep: {clusters: [2, ~]}\n"),
                         "3:23: a value of the axis 'clusters' is empty")

    def test_keys_of_one_line_take_time_by_their_number(self):
        self.assert_linear(lambda count: HEAD + b"x: {" + numbers(count, "k{}: 1") + b"}\n", 10000, status=2)

    def test_published_values_take_time_by_their_number(self):
        def config(count):
            return (b"dataset: {blobs: {samples: 50}}\nbackends: [sequential]\nsweep: {seeding.seed: ["
                    + numbers(count, "{}") + b"]}\nreference: {source: a, quantity: ms_per_fit, values: ["
                    + numbers(count, "{{seeding.seed: {0}, value: {0}}}") + b"]}\n")
        self.assert_linear(config, 1500)

    def test_axes_and_tables_are_limited(self):
        axes = b"sweep: {" + numbers(30000, "dataset.a{}: [1]") + b"}\n"
        self.assertIn("'sweep' has 30000 axes; at most 64 are allowed", self.refusal(HEAD + axes))
        tables = b"reference: [" + numbers(5000, "{{source: a{}, note: b}}") + b"]\n"
        self.assertIn("'reference' has 5000 tables; at most 1000 are allowed", self.refusal(HEAD + tables))

    def test_what_a_message_quotes_is_cut(self):
        long = b"x" * 900000
        self.assertRegex(self.refusal(HEAD + b"clusters: " + long), r"not 'x{100}\.\.\. \(900000 bytes\)'$")
        self.assertRegex(self.refusal(HEAD + b"? " + long + b"\n: 1\n"), r"unknown key 'x{100}\.\.\. \(900000 bytes\)'")
        self.refusal(b"dataset: {blobs: {}}\nbackends: [" + long + b"]\n")

    def test_deep_nesting_is_refused_where_it_is_too_deep(self):
        for text, place in ((b"a: " + b"[" * 1000 + b"]" * 1000, "1:67"), (b"- " * 1000 + b"a", "1:129"),
                            (b"".join(b" " * i + b"a:\n" for i in range(1000)), "65:65"),
                            (b"a0: &a0 [1]\n" + b"".join(b"a%d: &a%d [*a%d]\n" % (i, i, i - 1)
                                                         for i in range(1, 400)), "64:12")):
            with self.subTest(text[:30]):
                self.assertIn("lists and maps are nested more than 64 levels deep", self.refusal(text))
                self.assertTrue(self.refusal(text).startswith(place), self.refusal(text))
        self.assertIn("nested more than 64 levels deep",
                      self.refusal(HEAD, "--set", "clusters=" + "[" * 600 + "]" * 600))

    def test_what_the_parser_would_replace_or_leave_out_is_refused(self):
        for text, message in (
                (b"experiment: caf\xe9\n", "3:16: the byte 0xe9 is not UTF-8: save the file in UTF-8"),
                (b"experiment: a\xed\xa0\x80\n", "3:14: the byte 0xed is not UTF-8: save the file in UTF-8"),
                (b"experiment: a\0b\n", "3:14: the control character 0x00 is not allowed here"),
                # An unclosed quote extends to the end of the file.
                (b"experiment: 'a\nclusters: 9\n", "3:13: the quote ' is never closed"),
                (b'experiment: "a\\"\nclusters: 9\n', '3:13: the quote " is never closed'),
                (b"clusters: 010\n", "3:11: 'clusters' must be an integer from 1 to 2147483647, not '010'"),
                (b"stop: {tolerance: 01.5}\n",
                 "3:19: 'stop.tolerance' must be a finite number >= 0, not '01.5'"),
                (b"<<: {clusters: 3}\n", "3:1: merge keys ('<<') are not supported")):
            with self.subTest(text):
                self.assertEqual(self.refusal(HEAD + text), message)
        self.assertIn("is not UTF-8", self.refusal(HEAD.decode().encode("utf-16")))
        for text in (b"\xef\xbb\xbf" + HEAD, HEAD.replace(b"\n", b"\r\n"), HEAD + b"clusters: 0x8\n"[:0],
                     HEAD + b"experiment: 'it''s' # isn't\n", HEAD + b'experiment: "a # \\" b"\n'):
            run("run", self.write("c.yaml", text), "--dry-run")

    def test_directives_that_would_be_passed_over_are_refused(self):
        message = ("a line must not begin with '%' here, because YAML ignores it: begin a comment with '#', and indent "
                   "the lines of a text")
        for text, place in ((HEAD + b"%clusters: 5\n%garbage\n", "3:1"), (b"%clusters: 5\n" + HEAD, "1:1"),
                            (HEAD + b"...\n%YAML 1.2\n", "4:1"), (HEAD + b"clusters: 3\r\n%\r\n", "4:1")):
            with self.subTest(text):
                self.assertEqual(self.refusal(text), f"{place}: {message}")
        self.assertEqual(self.refusal(HEAD, "--set", "clusters=%5"), f"lloyd: --set clusters:1:1: {message}")
        for text in (b"# a\n\n%YAML 1.2\n---\n" + HEAD, HEAD + b"experiment: a\n  %b\n", HEAD + b"# %\n"):
            run("run", self.write("c.yaml", text), "--dry-run")

    def test_syntax_errors_say_what_to_change(self):
        for text, message in (
                (b"stop:\n\titerations: 3\n", "line 4 is indented with a tab: YAML is indented with blanks"),
                (b"x:\n  y:\n  \tz: 3\n", "line 5 is indented with a tab: YAML is indented with blanks"),
                (b"x: a: b\n", "':' is not allowed here: check the indentation"),
                (b"x: [1, 2\ny: 3\n", "a '[' above is not closed before this"),
                (b"x: {a: 2\ny: 3\n", "a '{' above is not closed before this"),
                (b"x: 1]]\ny: [1]]\n", "this bracket has no matching opening bracket"),
                (b"x: @a\n", "a value cannot begin with this character: put it in quotes")):
            with self.subTest(text):
                self.assertIn(message, self.refusal(HEAD + text))

    def test_set_says_what_is_wrong_and_where(self):
        for text, message in (
                ("clusters=[1, 2", "--set clusters:1:1: the '[' is never closed"),
                ("dataset.blobs={samples: 10", "--set dataset.blobs:1:1: the '{' is never closed"),
                ("backends=[sequential, openmp: {threads: [1, 2}]",
                 "--set backends:1:37: this is not valid YAML: this bracket has no matching opening bracket"),
                ("clusters='8", "--set clusters:1:3: this is not valid YAML: a quote is not closed"),
                ("clusters=@8", "--set clusters:1:1: this is not valid YAML: a value cannot begin with this "
                                "character: put it in quotes"),
                ("clusters[0]=8", "--set: the key 'clusters[0]' has brackets, but parts are divided by dots; "
                                  "keys are such as dataset.blobs.samples"),
                ("dataset[blobs][samples]=8", "--set: the key 'dataset[blobs][samples]' has brackets, but "
                 "parts are divided by dots; keys are such as dataset.blobs.samples"),
                ("\tclusters=8", "--set: the key '?clusters' has a blank, tab or line break; keys are such as "
                                 "dataset.blobs.samples"),
                ("dataset..blobs=8", "--set: the key 'dataset..blobs' has an empty part; keys are such as "
                                     "dataset.blobs.samples"),
                ("dataset.blobs=\n\tsamples: 8\n", "--set dataset.blobs:2:9: this is not valid YAML: line 2 is "
                 "indented with a tab: YAML is indented with blanks")):
            with self.subTest(text):
                self.assertEqual(self.refusal(HEAD, "--set", text), "lloyd: " + message)

    def test_a_name_too_long_for_a_folder_is_refused(self):
        long = b"x" * 256
        of_name = "'experiment' names a folder, as 'output' is not given, and has 256 bytes; at most 255 are possible"
        of_output = f"the name of the folder '{'x' * 40}...' has 256 bytes; at most 255 are possible"
        file = self.write("c.yaml", HEAD + b"experiment: " + long)
        self.assertEqual(run("run", file, "--dry-run", status=2).stderr, f"lloyd: {file}:3:13: {of_name}\n")
        self.write("c.yaml", HEAD + b"output: a/" + long + b"/b")
        self.assertEqual(run("run", file, "--dry-run", status=2).stderr,
                         f"lloyd: {file}:3:9: 'output': {of_output}\n")
        self.write("c.yaml", HEAD)
        done = run("run", file, "--dry-run", "--output", self.folder / long.decode(), status=2)
        self.assertEqual(done.stderr, f"lloyd: {of_output}\n")
        for text in (b"experiment: " + long[1:], b"output: a\nexperiment: " + long):
            run("run", self.write("c.yaml", HEAD + text), "--dry-run")
        for name in (long, b"a/b", b".."):
            file = self.write("c.yaml", HEAD + b"experiment: " + name)
            run("run", file, "--dry-run", "--output", self.folder / "results")

    def test_an_axis_may_complete_what_another_one_sets(self):
        text = b"sweep: {seeding: [random, {method: k-means++}], seeding.seed: [1, 2]}\n"
        self.assertIn("4 settings", run("run", self.write("c.yaml", HEAD + text), "--dry-run").stdout)

    def test_what_is_no_file_is_refused(self):
        os.mkfifo(self.folder / "fifo")
        (self.folder / "loop").symlink_to(self.folder / "loop")
        for name in ("fifo", "loop", ".", "missing"):
            done = run("run", self.folder / name, "--dry-run", status=2)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for device in ("/dev/null", "/dev/zero"):
            self.assertEqual(run("run", device, "--dry-run", status=2).stderr,
                             f"lloyd: {device}: is not a regular file\n")


if __name__ == "__main__":
    unittest.main()
