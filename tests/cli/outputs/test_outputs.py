"""Outputs never replace inputs, are written completely or not at all, and are kept elsewhere if they cannot be written.
"""

import array
import fcntl
import json
import os
import pathlib
import resource
import signal
import stat
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from hostile_case import HostileCase
from program import BAD_PLUGINS, IRIS, LLOYD, ROOT, SANITIZED, TestCase, needs_html_report, run

POINTS = "x,y\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(60))
CONFIG = """
experiment: outputs
dataset: DATASET
clusters: 3
backends: [BACKEND]
repeats: 2
output: OUTPUT
"""


class OutputCase(TestCase):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "out"
        self.output.mkdir()
        self.data = self.write("points.csv", POINTS)

    def link(self, name, target, hard=False):
        path = self.folder / name
        if hard:
            os.link(target, path)
        else:
            path.symlink_to(target)
        return path

    def config(self, dataset="{blobs: {samples: 90, centers: 3}}", backend="sequential", more=""):
        text = CONFIG.replace("DATASET", dataset).replace("BACKEND", backend)
        return self.write("config.yaml", text.replace("OUTPUT", str(self.output)) + more)

    def files(self, folder=None):
        """Path and contents of every entry in the folder; None for non-files."""
        return {path.relative_to(self.folder): path.read_bytes() if path.is_file() else None
                for path in sorted((folder or self.folder).rglob("*"))}

    def assert_refused(self, message, *arguments, **options):
        """Expects status 2, only this message, and no file created, changed or removed."""
        before = self.files()
        done = run(*arguments, status=2, **options)
        self.assertIn(message, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertEqual(self.files(), before)

    def limited(self, size, *arguments):
        """A command with a file size limit. Python ignores SIGXFSZ and passes that on, so writes fail instead."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        return subprocess.run([LLOYD, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                              preexec_fn=limit, restore_signals=False, cwd=self.folder)


READ = "is read, so it cannot be written too"


class Overwriting(OutputCase):
    def test_predict_does_not_write_over_what_it_reads(self):
        model = self.write("centroids.csv", "x,y\n1,2\n3,4\n")
        (self.folder / "inner").mkdir()
        names = {"the data": self.data, "another spelling": f"{self.folder}/inner/../points.csv",
                 "a link": self.link("link.csv", self.data), "the model": model,
                 "a hard link": self.link("hard.csv", self.data, hard=True),
                 "a folder that is a link": self.link("again", self.folder) / "centroids.csv"}
        for name, labels in names.items():
            with self.subTest(name):
                self.assert_refused(READ, "predict", model, self.data, "--labels", labels)

    def test_fit_does_not_write_over_a_hard_link_of_what_it_reads(self):
        start = self.write("start.csv", "1,2\n3,4\n")
        labels = self.link("labels.csv", self.data, hard=True)
        centroids = self.link("centroids.csv", start, hard=True)
        self.assert_refused(READ, "fit", self.data, "-k", "2", "--labels", labels)
        self.assert_refused(READ, "fit", self.data, "-k", "2", "--init", start, "--centroids", centroids)

    def test_convert_does_not_write_over_its_input(self):
        for output in (self.data, f"{self.folder}/./points.csv",
                       self.link("hard.csv", self.data, hard=True)):
            self.assert_refused(READ, "data", "convert", self.data, output)

    def test_a_run_does_not_write_its_summary_over_what_it_reads(self):
        summary = self.output / "summary.csv"
        summary.write_text(POINTS)
        blobs = "{blobs: {samples: 90, centers: 3}}"
        program = self.folder / "program.py"
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
        cases = {"data": self.config(f"{{file: '{summary}'}}"),
                 "data of a later setting": (f"{{file: '{self.data}'}}",
                                             f"sweep: {{dataset.file: ['{self.data}', '{summary}']}}\n"),
                 "initial centroids": (blobs, f"seeding: {{file: '{summary}'}}\n")}
        for name, text in cases.items():
            with self.subTest(name):
                config = text if isinstance(text, pathlib.Path) else self.config(text[0], more=text[1])
                self.assert_refused(READ, "run", config)
                self.assert_refused(READ, "run", config, "--dry-run")
        with self.subTest("a program"):
            summary.unlink()
            os.link(program, summary)
            self.assert_refused(READ, "run", self.config(backend=f"external: {{program: '{program}'}}"))

    def test_a_run_does_not_append_records_to_what_it_reads(self):
        """If the last line feed was missing, the last sample used to be truncated as a partial record."""
        self.data.write_text(POINTS.rstrip())
        os.link(self.data, self.output / "records.jsonl")
        self.assert_refused(READ, "run", self.config(f"{{file: '{self.data}'}}"))
        (self.output / "records.jsonl").unlink()
        config = self.config()
        (self.output / "records.jsonl").symlink_to(config)
        self.assert_refused(READ, "run", config)

    def test_a_summary_does_not_replace_the_records(self):
        run("run", self.config())
        summary = self.output / "summary.csv"
        summary.unlink()
        summary.symlink_to("records.jsonl")
        self.assert_refused("two outputs", "run", self.config())

    @needs_html_report
    def test_a_page_does_not_replace_the_records(self):
        run("run", self.config())
        page = self.link("page.html", self.output / "records.jsonl", hard=True)
        self.assert_refused(READ, "report", self.output, "-o", page)

    def test_standard_output_is_an_output_too(self):
        run("run", self.config())
        model = self.write("centroids.csv", "x,y\n1,2\n3,4\n")
        records = self.output / "records.jsonl"
        cases = [(self.data, ["predict", model, self.data]), (model, ["predict", model, self.data]),
                 (self.data, ["fit", self.data, "-k", "2"]), (self.data, ["data", "info", self.data]),
                 (records, ["report", self.output]), (records, ["compare", records, records])]
        for file, arguments in cases:
            with self.subTest(arguments):
                before = file.read_bytes()
                with open(file, "ab") as output:
                    done = subprocess.run([LLOYD, *map(str, arguments)], stdout=output,
                                          stderr=subprocess.PIPE, text=True, timeout=300)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(READ, done.stderr)
                self.assertEqual(file.read_bytes(), before)

    def test_standard_error_is_an_output_too(self):
        config = self.config()
        run("run", config)
        records = self.output / "records.jsonl"
        cases = [(records, "two outputs", ["run", config]), (config, READ, ["run", config]),
                 (self.data, READ, ["fit", self.data, "-k", 2]), (records, READ, ["report", self.output]),
                 (records, READ, ["compare", records, records]), (self.data, READ, ["data", "info", self.data])]
        for file, message, arguments in cases:
            with self.subTest(arguments):
                before = file.read_bytes()
                with open(file, "ab") as errors:
                    done = subprocess.run([LLOYD, *map(str, arguments)], stdout=subprocess.PIPE,
                                          stderr=errors, text=True, timeout=300)
                    mute = subprocess.run([LLOYD, *map(str, arguments)], stdout=errors, stderr=errors,
                                          timeout=300)
                self.assertEqual((done.returncode, mute.returncode), (2, 2))
                self.assertEqual(file.read_bytes(), before)
                # Standard output is the only place for this message.
                self.assertIn(message, done.stdout)
                self.assertEqual(done.stdout.count("\n"), 1, done.stdout)
        run("report", self.output)
        with open(self.folder / "all.txt", "wb") as output:
            done = subprocess.run([LLOYD, "run", str(config)], stdout=output, stderr=output, timeout=300)
        self.assertEqual(done.returncode, 0)

    def test_what_is_printed_and_a_file_are_two_outputs(self):
        """Otherwise the printed table would end up among the records, or be lost with the replaced file."""
        summary, records, labels = (self.output / name for name in ("summary.csv", "records.jsonl", "l.csv"))
        for file, arguments in ((summary, ["run", self.config()]), (records, ["run", self.config()]),
                                (labels, ["fit", self.data, "-k", "2", "--labels", labels])):
            with self.subTest(file):
                with open(file, "wb") as output:
                    done = subprocess.run([LLOYD, *map(str, arguments)], stdout=output,
                                          stderr=subprocess.PIPE, text=True, timeout=300)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("two outputs", done.stderr)
                self.assertEqual(file.read_bytes(), b"")
                file.unlink()


class Replacing(OutputCase):
    def labels(self, file, **options):
        return run("fit", self.data, "-k", "2", "-b", "sequential", "--labels", file, **options)

    def test_a_file_keeps_its_mode(self):
        for mode in (0o600, 0o640, 0o666):
            labels = self.write("labels.csv", "private\n")
            labels.chmod(mode)
            self.labels(labels)
            self.assertEqual(stat.S_IMODE(labels.stat().st_mode), mode)
            self.assertEqual(len(labels.read_text().splitlines()), 60)

    def test_a_write_protected_file_is_not_replaced(self):
        labels = self.write("labels.csv", "precious\n")
        labels.chmod(0o444)
        self.assert_refused("write-protected", "fit", self.data, "-k", "2", "--labels", labels)
        self.assert_refused("write-protected", "data", "convert", IRIS, labels)

    def test_a_link_stays_and_its_target_is_written(self):
        for name, exists in (("there.csv", True), ("new.csv", False)):
            target = self.folder / "inner" / name
            target.parent.mkdir(exist_ok=True)
            if exists:
                target.write_text("former\n")
            link = self.link(f"link-{name}", f"inner/{name}")
            self.labels(link)
            self.assertTrue(link.is_symlink())
            self.assertEqual(len(target.read_text().splitlines()), 60)
        circle = self.link("circle.csv", "circle.csv")
        self.assertIn("circle.csv", self.labels_refused(circle))

    def labels_refused(self, file):
        done = run("fit", self.data, "-k", "2", "--labels", file, status=2)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def test_what_is_no_file_is_not_replaced(self):
        fifo = self.folder / "pipe.csv"
        os.mkfifo(fifo)
        device = self.link("device.csv", "/dev/null")
        for output in (fifo, device):
            self.assertIn("not a regular file", self.labels_refused(output))
            self.assertIn("not a regular file", run("data", "convert", IRIS, output, status=2).stderr)
        self.assertTrue(stat.S_ISFIFO(fifo.stat().st_mode))
        self.assertTrue(device.is_symlink())
        (self.output / "records.jsonl").symlink_to("/dev/null")
        self.assertIn("not a regular file", run("run", self.config(), status=2).stderr)

    def test_streams_are_named_as_such(self):
        fifo = self.folder / "pipe"
        os.mkfifo(fifo)
        link = self.link("stdout.csv", "/dev/stdout")
        for output in (fifo, "/dev/stdout", "/dev/null"):
            self.assertEqual(self.labels_refused(output),
                             f"lloyd: an output is '{output}', which is not a regular file; it must be a file whose name "
                             "ends in .csv or .npy\n")
        with subprocess.Popen([LLOYD, "fit", self.data, "-k", "2", "--labels", link], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            output, messages = process.communicate()
        self.assertEqual((process.returncode, output), (2, ""))
        self.assertEqual(messages, f"lloyd: {link}: cannot write the file: it exists and is not a regular file\n")

    def test_a_hyphen_is_no_folder(self):
        self.assert_refused("lloyd: -o is '-', but it takes a folder for labels, centroids and model.json; --json prints the "
                            "result to standard output, and 'lloyd predict MODEL DATA' prints labels\n",
                            "fit", self.data, "-k", "2", "-o", "-", cwd=self.folder)
        run("fit", self.data, "-k", "2", "-o", "./-", cwd=self.folder)
        self.assertTrue((self.folder / "-" / "labels.csv").exists())

    def test_a_hyphen_is_no_file(self):
        said = "lloyd: an output is '-'; it must be a file whose name ends in "
        for end, arguments in ((".csv or .npy", ("predict", self.data, self.data, "--distances")),
                               (".csv or .npy", ("fit", self.data, "-k", "2", "--labels")),
                               (".json", ("fit", self.data, "-k", "2", "--model")),
                               (".csv, .npy, .fvecs, .h5 or .hdf5", ("data", "convert", self.data)),
                               (".html", ("report", self.output, "-o"))):
            self.assert_refused(f"{said}{end}\n", *arguments, "-", cwd=self.folder)
        self.assert_refused("without --labels and --distances, labels are printed to standard output\n",
                            "predict", self.data, self.data, "--labels", "-", cwd=self.folder)

    def test_the_longest_name_can_be_written(self):
        longest = os.pathconf(self.folder, "PC_NAME_MAX")
        labels = self.folder / ("l" * (longest - 4) + ".csv")
        self.labels(labels)
        self.assertEqual(len(labels.read_text().splitlines()), 60)

    def test_extensions_in_capital_letters(self):
        run("fit", self.data, "-k", "2", "--labels", "L.CSV", "--centroids", "C.Npy", "--model", "M.JSON",
            cwd=self.folder)
        self.assertEqual(len((self.folder / "L.CSV").read_text().splitlines()), 60)
        self.assertTrue((self.folder / "C.Npy").read_bytes().startswith(b"\x93NUMPY"))
        run("predict", "M.JSON", self.data, "--labels", "P.NPY", cwd=self.folder)
        run("data", "convert", "C.Npy", "D.CSV", cwd=self.folder)

    @needs_html_report
    def test_a_page_in_capital_letters(self):
        run("run", self.config())
        run("report", self.output, "-o", self.folder / "PAGE.HTML")
        self.assertIn("<html", (self.folder / "PAGE.HTML").read_text())

    def test_an_output_stays_where_it_was_named(self):
        """A plugin that changes the working directory does not redirect outputs."""
        other = self.folder / "other"
        other.mkdir()
        with self.subTest("fit"):
            run("--plugin-dir", BAD_PLUGINS / "moves-files", "fit", self.data, "-k", "2", "-b", "moves-files",
                "-o", "out", "--labels", "labels.csv", cwd=self.folder, env={"LLOYD_TEST_GO_TO": str(other)})
            self.assertEqual(len((self.folder / "labels.csv").read_text().splitlines()), 60)
            self.assertTrue((self.output / "model.json").exists())
        with self.subTest("run"):
            self.output = "out"
            run("--plugin-dir", BAD_PLUGINS / "moves-files", "run",
                self.config(backend="moves-files", more="isolate: none\n"), cwd=self.folder,
                env={"LLOYD_TEST_GO_TO": str(other)})
            self.assertEqual(len((self.folder / "out" / "records.jsonl").read_text().splitlines()), 2)
            self.assertTrue((self.folder / "out" / "summary.csv").exists())
        self.assertEqual(list(other.iterdir()), [])


class Keeping(OutputCase):
    """When the work is done, the folder of the output is missing or full."""

    def setUp(self):
        super().setUp()
        self.refuge = self.folder / "refuge"
        self.refuge.mkdir()

    def run_to_a_loss(self, *arguments):
        return run("--plugin-dir", BAD_PLUGINS / "moves-files", *arguments, status=1,
                   cwd=self.refuge, env={"LLOYD_TEST_TAKE_AWAY": str(self.output)})

    def kept(self, done, name):
        """The contents of the kept file, whose path the message states."""
        files = list(self.refuge.glob(f"lloyd-kept-*/{name}"))
        self.assertEqual(len(files), 1, done.stderr)
        self.assertIn(f"{name}: cannot write the file: {self.output} is not a folder; it was kept as {files[0]}",
                      done.stderr)
        return files[0].read_text()

    def test_a_fit_is_printed_and_what_could_not_be_written_is_kept(self):
        model = self.folder / "model.json"
        done = self.run_to_a_loss("fit", self.data, "-k", "2", "-b", "moves-files", "--json", "--model", model,
                                  "--labels", self.output / "labels.csv",
                                  "--centroids", self.output / "centroids.csv")
        self.assertEqual(json.loads(done.stdout)["clusters"], 2)
        self.assertEqual(json.loads(model.read_text())["clusters"], 2)
        self.assertEqual(len(self.kept(done, "labels.csv").splitlines()), 60)
        self.assertEqual(len(self.kept(done, "centroids.csv").splitlines()), 3)

    def test_the_summary_of_a_run_is_printed_and_kept(self):
        done = self.run_to_a_loss("run", self.config(backend="moves-files", more="isolate: none\n"))
        self.assertIn("moves-files", done.stdout)
        self.assertNotIn("summary: ", done.stdout)
        self.assertIn("moves-files", self.kept(done, "summary.csv"))
        gone = self.folder / "out.gone" / "records.jsonl"
        self.assertEqual(len(gone.read_text().splitlines()), 2)

    def test_a_file_that_outgrows_the_limit_costs_no_other(self):
        """The files cannot be kept elsewhere either; the result is printed."""
        done = self.limited(150, "fit", self.data, "-k", "2", "-b", "sequential", "--json", "--labels", "l.csv",
                            "--centroids", "c.csv", "--model", "m.json")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(json.loads(done.stdout)["clusters"], 2)
        self.assertRegex(done.stderr.splitlines()[-1],
                         r"m\.json: cannot write the file: .*; it could not be kept elsewhere either")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["c.csv", "l.csv", "out", "points.csv", "refuge"])

    def test_a_reader_that_goes_costs_no_file(self):
        read, write = os.pipe()
        os.close(read)
        process = subprocess.Popen([LLOYD, "fit", str(self.data), "-k", "2", "-o", str(self.output)],
                                   stdout=write, stderr=subprocess.DEVNULL)
        os.close(write)
        process.wait(timeout=300)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(sorted(path.name for path in self.output.iterdir()),
                         ["centroids.csv", "labels.csv", "model.json"])

    def test_messages_that_nobody_reads_cost_no_file(self):
        read, write = os.pipe()
        os.close(read)
        process = subprocess.Popen([LLOYD, "fit", str(self.data), "-k", "2", "-o", str(self.output)],
                                   stdout=subprocess.DEVNULL, stderr=write)
        os.close(write)
        self.assertEqual(process.wait(timeout=300), 0)
        self.assertEqual(sorted(path.name for path in self.output.iterdir()),
                         ["centroids.csv", "labels.csv", "model.json"])


    def test_messages_that_nobody_reads_end_no_run(self):
        config = self.write("few.yaml", "dataset: {blobs: {samples: 50}}\nclusters: 2\nbackends: [sequential]\n"
                            f"repeats: 3\noutput: {self.output}\n")
        read, write = os.pipe()
        os.close(read)
        process = subprocess.Popen([LLOYD, "run", str(config)], stdout=subprocess.DEVNULL, stderr=write)
        os.close(write)
        self.assertEqual(process.wait(timeout=300), 0)
        self.assertEqual(len((self.output / "records.jsonl").read_text().splitlines()), 3)


class ReadersThatWait(OutputCase):
    """The reader of standard output does not read, and the command receives a signal."""

    def start(self, *command):
        """A command that is blocked on its reader, and a descriptor that keeps the pipe open."""
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        process = subprocess.Popen([LLOYD, *map(str, command)], stdin=subprocess.DEVNULL, stdout=write,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        os.close(write)
        capacity = fcntl.fcntl(read, fcntl.F_GETPIPE_SZ)
        deadline = time.monotonic() + 300
        waiting = array.array("i", [0])
        while waiting[0] < capacity and time.monotonic() < deadline:
            time.sleep(0.05)
            fcntl.ioctl(read, termios.FIONREAD, waiting)
        self.assertEqual(waiting[0], capacity)
        return process

    def test_predict_ends(self):
        data, model = self.folder / "many.npy", self.folder / "many.json"
        run("data", "blobs", data, "--samples", "60000", "--features", "2")
        run("fit", data, "-k", "2", "--iterations", "1", "--model", model)
        process = self.start("predict", model, data)
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=300)
        self.assertEqual((process.returncode, error),
                         (130, "lloyd: interrupted before the whole result was printed\n"))

    def test_run_writes_its_summary(self):
        starts = ", ".join("{method: random, seed: %d}" % seed for seed in range(120))
        config = self.write("many.yaml", "dataset: {blobs: {samples: 20, features: 2}}\nclusters: 2\n"
                            f"backends: [sequential]\nrepeats: 1\nisolate: none\nsweep: {{seeding: [{starts}]}}\n"
                            f"stop: {{iterations: 1}}\noutput: {self.output}\n")
        process = self.start("run", config, "--json")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(len((self.output / "summary.csv").read_text().splitlines()), 121)


class Links(HostileCase):
    """An output becomes a link to an input during the work."""

    def test_the_input_is_not_replaced(self):
        data = self.folder / "data.npy"
        run("data", "blobs", data, "--samples", "100", "--features", "2")
        before = data.read_bytes()
        labels = self.folder / "labels.npy"
        for hostile, command in (("fit link-output", ("fit", data, "-k", "2")),
                                 ("label link-output", ("predict", self.model_of(data), data))):
            with self.subTest(hostile):
                labels.unlink(missing_ok=True)
                done = subprocess.run(self.command(*command, "--backend", "hostile", "--labels", labels),
                                      env={**self.environment(hostile), "LLOYD_HOSTILE_INPUT": str(data),
                                           "LLOYD_HOSTILE_OUTPUT": str(labels)},
                                      cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                      timeout=300)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("it now names a file that is in use; it was kept as ", done.stderr)
                self.assertEqual(data.read_bytes(), before)
                self.assertTrue(list(self.folder.glob("lloyd-kept-*/labels.npy")))

    def model_of(self, data):
        model = self.folder / "of_data.json"
        run("fit", data, "-k", "2", "--backend", "sequential", "--model", model)
        return model


class Descriptors(OutputCase):
    @unittest.skipIf(SANITIZED, "a sanitizer needs descriptors itself")
    def test_no_empty_folder_is_left_where_there_are_too_few(self):
        for limit in range(8, 24):
            with self.subTest(limit):
                done = subprocess.run(["prlimit", f"--nofile={limit}:{limit}", LLOYD, "fit", str(self.data), "-k", "2",
                                       "-b", "sequential", "-o", str(self.output)], cwd=self.folder,
                                      capture_output=True, stdin=subprocess.DEVNULL, text=True,
                                      env={**os.environ, "TMPDIR": str(self.folder)}, timeout=300)
                if "Too many open files" in done.stderr:
                    self.assertIn(f"this process may have {limit}, see 'ulimit -n'", done.stderr)
                empty = [path for path in self.folder.glob("lloyd-*") if not list(path.iterdir())]
                self.assertEqual(empty, [])


class Space(OutputCase):
    def test_blobs_beyond_every_disk_are_refused(self):
        for extension in ("npy", "csv", "fvecs"):
            with self.subTest(extension):
                self.assert_refused("the file needs at least", "data", "blobs", self.folder / f"b.{extension}",
                                    "--samples", 10**18, "--features", 1)

    def test_a_file_beyond_the_limit_is_refused_before_it_is_begun(self):
        self.write("big.csv", "1\n2\n" * 4000)
        cases = [["data", "blobs", "b.npy", "--samples", "100000", "--features", "8"],
                 ["data", "blobs", "b.csv", "--samples", "100000", "--features", "8"],
                 ["fit", "big.csv", "-k", "2", "--labels", "l.csv"],
                 ["predict", "points.csv", "points.csv", "--labels", "l.npy"],
                 ["predict", "points.csv", "points.csv", "--distances", "d.npy"]]
        for arguments in cases:
            size = 200 if arguments[0] == "predict" else 4096
            with self.subTest(arguments):
                before = self.files()
                done = self.limited(size, *arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(done.stderr, r"needs at least \d.*, but the limit for a file's size "
                                              rf"\(ulimit -f\) is {size} bytes")
                self.assertEqual(done.stdout, "")
                self.assertEqual(self.files(), before)


class Temporary(OutputCase):
    def test_no_folder_for_temporary_files(self):
        program = self.write("program.py", (ROOT / "tests/cli/external_program.py").read_text())
        program.chmod(0o755)
        for name, folder in {"missing": self.folder / "missing", "a file": self.data}.items():
            with self.subTest(name):
                config = self.config(backend=f"external: {{program: '{program}'}}")
                done = run("run", config, status=1, env={"TMPDIR": str(folder)})
                self.assertIn(f"cannot make a folder for temporary files in '{folder}', which TMPDIR names: ",
                              done.stderr)
                self.assertIn("TMPDIR must name a folder that can be written", done.stderr)


class Names(OutputCase):
    def test_a_header_that_is_not_utf8_serves_its_own_data(self):
        latin = self.write("latin.csv", POINTS.encode().replace(b"x,y", b"h\xf6he,gr\xf6\xdfe"))
        swapped = self.write("swapped.csv", POINTS.encode().replace(b"x,y", b"gr\xf6\xdfe,h\xf6he"))
        utf8 = self.write("utf8.csv", POINTS.replace("x,y", "höhe,größe"))
        run("fit", latin, "-k", "2", "-o", self.output)
        model = self.output / "model.json"
        self.assertEqual(json.loads(model.read_text())["feature_names"], ["höhe", "größe"])
        for data in (latin, utf8):
            run("predict", model, data)
            run("predict", self.output / "centroids.csv", data)
        done = run("predict", model, swapped, status=2)
        self.assertIn("feature 0 of swapped.csv", done.stderr)
        for command in (["fit", latin, "-k", "2"], ["predict", model, latin], ["data", "info", latin],
                        ["data", "convert", latin, self.folder / "y.npy"]):
            said = run(*command).stderr
            self.assertEqual(said.count(f"lloyd: warning: {latin}: the name 'h?he' is not UTF-8; if the file is Latin-1, "
                                        f"iconv -f latin1 -t utf-8 {latin} > NEW.csv converts it\n"), 1, said)
            self.assertNotIn("UTF-8", run(*[utf8 if word == latin else word for word in command]).stderr)
        config = self.write("latin.yaml", f"{{dataset: {{file: '{latin}'}}, clusters: 2, backends: [sequential]}}")
        self.assertEqual(run("run", config, "--dry-run").stderr.count("iconv"), 1)
        same = self.write("same.csv", b"\xe9,\xe8\n1,2\n3,4\n")  # each becomes one replacement character
        other = self.write("other.csv", b"\xe8,\xe9\n1,2\n3,4\n")
        run("fit", same, "-k", "2", "--model", self.folder / "m.json")
        run("predict", self.folder / "m.json", same)
        run("predict", self.folder / "m.json", other, status=2)


class ForeignRecords(OutputCase):
    def test_a_last_line_of_others_is_not_cut_off(self):
        records = self.output / "records.jsonl"
        config = self.config()
        for text in ("notes of mine", '{"name": "torn', "{}\nno record",
                     '{"schema":"https://example.org/x","data":[1,2', '{"schema":1,"data":[1,2', '{"s":'):
            records.write_text(text)
            for arguments in ([], ["--resume"]):
                with self.subTest(text=text, arguments=arguments):
                    self.assert_refused("has no line feed and is not part of a record", "run", config, *arguments)

    def test_a_last_line_of_others_is_not_passed_over(self):
        run("run", self.config())
        records = self.output / "records.jsonl"
        with open(records, "a") as file:
            file.write("notes of mine")
        self.assert_refused("records.jsonl:3: ", "report", records)

    def test_a_piece_of_a_record_is_still_cut_off(self):
        run("run", self.config())
        records = self.output / "records.jsonl"
        whole = records.read_bytes()
        for piece in (b"{", whole[:11], whole[:100], b"\0\0\0"):
            records.write_bytes(whole + piece)
            self.assertIn(f"incomplete last record of {len(piece)} bytes", run("report", records).stderr)
            self.assertIn(f"incomplete last record of {len(piece)} bytes",
                          run("run", self.config(), "--resume").stderr)
            self.assertEqual(records.read_bytes(), whole)


if __name__ == "__main__":
    import unittest
    unittest.main()
