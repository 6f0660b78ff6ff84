"""Plugins are loaded and probed in separate processes: any failure there becomes one sentence.

A command that loads a plugin into its own process reports it if the plugin ends that process."""

import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from hostile_case import process_with_plugin, processes_with
from program import BAD_PLUGINS, IRIS, LLOYD, SANITIZED, TestCase, is_gone, leaves_no_descriptor, run, run_json

ABORTED = r"signal 6 \(Aborted\)"
# AddressSanitizer reports the crash and aborts.
CRASHED = ABORTED + "(; last words: .*)?" if SANITIZED else r"signal 11 \(Segmentation fault\)"
# Printed only if the plugin shares the program's C++ runtime.
SINCE = "(, since an exception of type std::runtime_error was not caught: the matrix is singular)?"
WHILE_LOADED = r"ended its process while it was loaded: "
# Seconds; enough for every good plugin of this build on a busy machine.
LIMIT = 15

def ended_in(call):
    return rf"ended its process in {call}\(\): "


def silent_in(call):
    return rf"did not answer within [0-9]+ s in {call}\(\); --plugin-timeout gives it longer"


# Plugin -> message that refuses it, after the file's name.
REFUSED = {
    "loading-aborts": WHILE_LOADED + ABORTED,
    "loading-exits": WHILE_LOADED + r"exit\(0\)",
    "create-exits": ended_in("create") + r"exit\(3\)",
    "probe-aborts": ended_in("probe") + ABORTED + r"; last words: the driver is \?\[1msick",
    "probe-exits": ended_in("probe") + r"exit\(0\)",
    "probe-closes": r"closed the socket of its process in probe\(\)",
    "probe-answers": r"sent an unexpected answer in probe\(\)",
    "info-crashes": ended_in("info") + CRASHED,
    "info-range": r"its backend's info declares the parameter 'tile' with the range from 8 to 4, which has no value",
    "info-nan": r"its backend's info declares the parameter 'slack' with the range from 0 to nan, which has no value",
    "info-long": r"its backend's info has a text of more than 1000 bytes",
    "info-bytes": r"its backend's info declares the parameter 'x\?' with a name that is not printable UTF-8",
    "info-large": r"its description has [0-9]+ bytes; at most 131071 are possible",
}
HANGING = {name: silent_in(name.split("-")[0]) for name in ("probe-hangs", "probe-stops", "probe-deaf", "info-hangs")}
# Plugins with a valid description.
DESCRIBED = ["good", "loading-forks", "loading-prints"]

CONFIG = """
experiment: loading
dataset:
  blobs: {samples: 100, features: 2, centers: 4}
clusters: 4
backends: [BACKENDS]
repeats: 1
output: OUTPUT
"""


def file_of(name):
    return BAD_PLUGINS / name / f"lloyd_{name}.so"


def folder_option(name):
    return ["--plugin-dir", BAD_PLUGINS / name]


class LoadingCase(TestCase):
    def config(self, backends, more=""):
        text = CONFIG.replace("BACKENDS", backends).replace("OUTPUT", str(self.folder / "out"))
        return self.write("config.yaml", text + more)

    def copy_of(self, name):
        """A copy for this test alone: its path identifies the test's processes."""
        folder = self.folder / "plugins" / name
        folder.mkdir(parents=True, exist_ok=True)
        return pathlib.Path(shutil.copy(file_of(name), folder))

    def records(self):
        lines = (self.folder / "out" / "records.jsonl").read_text().splitlines()
        return {json.loads(line)["backend"]["name"]: json.loads(line) for line in lines}

    def assert_gone(self, text):
        """Waits until no process has `text` in its maps or command line."""
        deadline = time.monotonic() + 60
        while processes_with(text):
            self.assertLess(time.monotonic(), deadline, f"{text} is still there")
            time.sleep(0.02)


class Listing(LoadingCase):
    """All bad plugins in one folder with good ones."""

    def setUp(self):
        super().setUp()
        self.plugins = self.folder / "plugins"
        self.plugins.mkdir()
        for name in [*REFUSED, *HANGING, *DESCRIBED]:
            shutil.copy(file_of(name), self.plugins)
        self.option = ["--plugin-dir", self.plugins, "--plugin-timeout", str(LIMIT)]

    def check_refused(self, refused):
        reasons = {pathlib.Path(entry["file"]).stem.removeprefix("lloyd_"): entry["reason"]
                   for entry in refused}
        self.assertEqual(set(reasons), {*REFUSED, *HANGING})
        for name, pattern in {**REFUSED, **HANGING}.items():
            self.assertRegex(reasons[name], rf"^{re.escape(str(self.plugins))}/lloyd_{name}.so:? {pattern}$")

    def test_backends_lists_the_good_and_the_reasons(self):
        host = [backend["name"] for backend in run_json("backends")["backends"]]
        listing = run_json(*self.option, "backends")
        self.assertEqual([backend["name"] for backend in listing["backends"]],
                         sorted([*host, *DESCRIBED]))
        self.check_refused(listing["refused"])
        self.assert_gone(str(self.plugins))

    def test_doctor_lists_the_good_and_the_reasons(self):
        report = run_json(*self.option, "doctor", "--quick")
        self.assertLessEqual(set(DESCRIBED), {plugin["name"] for plugin in report["plugins"]})
        self.check_refused(report["refused"])

    def test_fit_chooses_among_the_good(self):
        done = run(*self.option, "fit", IRIS, "-k", "3", "--json")
        self.assertEqual(json.loads(done.stdout)["clusters"], 3)


class Named(LoadingCase):
    def test_what_ends_its_process_is_refused(self):
        for name, pattern in REFUSED.items():
            sentence = rf"{re.escape(str(file_of(name)))}:? {pattern}"
            with self.subTest(name):
                for command in (["backends", name], ["fit", IRIS, "-k", "3", "--backend", name]):
                    done = run(*folder_option(name), *command, status=2)
                    self.assertEqual(done.stdout, "")
                    self.assertRegex(done.stderr, rf"^lloyd: {sentence}\n$")
                done = run(*folder_option(name), "run", self.config(f"sequential, {name}"), status=2)
                self.assertRegex(done.stderr, sentence)
                self.assertFalse((self.folder / "out").exists())

    def test_what_hangs_is_refused(self):
        for name, pattern in HANGING.items():
            with self.subTest(name):
                file = self.copy_of(name)
                done = run("--plugin-dir", file.parent, "--plugin-timeout", "1", "backends", name, status=2)
                self.assertRegex(done.stderr, rf"^lloyd: {re.escape(str(file))} {pattern}\n$")
                self.assert_gone(str(file))

    def test_an_optional_one_is_skipped(self):
        options = [word for name in ("probe-exits", "probe-deaf") for word in folder_option(name)]
        run_options = ["--plugin-timeout", str(LIMIT), "run"]
        config = self.config("sequential, probe-exits, probe-deaf", "optional: [probe-exits, probe-deaf]\n")
        done = run(*options, *run_options, config)
        for name in ("probe-exits", "probe-deaf"):
            self.assertRegex(done.stderr, rf"(?m)^lloyd: {name} is optional and skipped: .* in probe\(\)")
        self.assertEqual({name: record["status"] for name, record in self.records().items()},
                         {"sequential": "ok", "probe-exits": "skipped", "probe-deaf": "skipped"})

    def test_a_failure_in_supports_or_estimate_is_no_reason_to_skip(self):
        for name, how in (("supports-exits", rf"in supports\(\): exit\(0\)"),
                          ("supports-hangs", rf"did not answer within {LIMIT} s in supports\(\)"),
                          ("supports-throws", "^the table of tiles is missing$"),
                          ("estimate-throws", "^the table of tiles is missing$"),
                          ("estimate-crashes", rf"in estimate\(\): {CRASHED}")):
            with self.subTest(name):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                command = [*folder_option(name), "--plugin-timeout", str(LIMIT), "run",
                           self.config(f"sequential, {name}")]
                done = run(*command, status=1)
                records = self.records()
                self.assertEqual(records["sequential"]["status"], "ok")
                self.assertEqual(records[name]["status"], "failed")
                self.assertRegex(records[name]["reason"], how)
                self.assertIn(f"{name} failed: {records[name]['reason']}\n", done.stderr)
                resumed = run(*command, "--resume", status=1)
                self.assertIn("nothing is left to do", resumed.stderr)
                retried = run(*command, "--resume", "--retry-failed", status=1)
                self.assertIn(f"{name} failed: ", retried.stderr)

    def test_what_it_starts_does_not_outlive_its_process(self):
        file = self.copy_of("loading-forks")
        run("--plugin-dir", file.parent, "backends", "loading-forks")
        self.assert_gone(str(file))

    def test_what_it_prints_is_not_mixed_with_results(self):
        option = folder_option("loading-prints")
        self.assertEqual(run_json(*option, "backends", "loading-prints")["name"], "loading-prints")
        fit = run_json(*option, "fit", IRIS, "-k", "3", "--backend", "loading-prints")
        self.assertEqual(fit["backend"]["name"], "loading-prints")

    def test_a_killed_command_leaves_no_process(self):
        file = self.copy_of("probe-hangs")
        for command in (["backends", "probe-hangs"], ["fit", str(IRIS), "-k", "3", "--backend", "probe-hangs"]):
            with self.subTest(command[0]):
                process = subprocess.Popen([LLOYD, "--plugin-dir", str(file.parent), *command],
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                self.addCleanup(process.wait)
                self.addCleanup(process.kill)
                deadline = time.monotonic() + 60
                while not processes_with(str(file)):
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.02)
                process.kill()
                process.wait()
                self.assert_gone(str(file.parent))


class Shortage(LoadingCase):
    """If no process can be started, the message says so and blames no plugin."""

    @leaves_no_descriptor
    def test_too_few_descriptors_for_a_process(self):
        for arguments in (["backends"], ["doctor", "--quick"], ["fit", IRIS, "-k", "3"]):
            with self.subTest(arguments[0]):
                done = subprocess.run(["sh", "-c", 'ulimit -n 8; exec "$0" "$@"', LLOYD, *map(str, arguments)],
                                      capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("this process may have 8", done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


class Others(LoadingCase):
    """A plugin that is not named is not loaded."""

    def loaded_by(self, *arguments):
        mark = self.folder / "mark"
        run(*folder_option("good"), *arguments, env={**os.environ, "LLOYD_LOADING_MARK": str(mark)})
        loaded = mark.exists()
        mark.unlink(missing_ok=True)
        return loaded

    def test_commands_load_what_they_need(self):
        model = self.folder / "model.json"
        run("fit", IRIS, "-k", "3", "--backend", "sequential", "--model", model)
        for arguments in (["--version"], ["--help"], ["new-plugin", "mine", "--dir", self.folder / "mine"],
                          ["data", "info", IRIS], ["backends", "sequential"],
                          ["fit", IRIS, "-k", "3", "--backend", "sequential"],
                          ["predict", model, IRIS, "--backend", "sequential"],
                          ["run", self.config("sequential")], ["report", self.folder / "out"]):
            with self.subTest(arguments[0]):
                self.assertFalse(self.loaded_by(*arguments))
        for arguments in (["backends"], ["doctor", "--quick"], ["backends", "good"],
                          ["fit", IRIS, "-k", "3"], ["run", self.config("good")]):
            with self.subTest(arguments):
                self.assertTrue(self.loaded_by(*arguments))


class InThisProcess(LoadingCase):
    """Messages of fit, predict and `isolate: none` when a plugin ends their process."""

    def fit(self, name, *options, status=1, env=None):
        return run(*folder_option(name), "fit", IRIS, "-k", "3", "--backend", name, *options,
                   status=status, env=env)

    def test_a_plugin_that_ends_the_process_is_reported(self):
        for name, how in (("fit-exits", r"exit\(0\)"), ("fit-exits-3", r"exit\(3\)"),
                          ("fit-escapes", ABORTED + SINCE), ("fit-crashes", CRASHED),
                          ("open-exits", r"exit\(0\)"), ("supports-exits", r"exit\(0\)"),
                          ("estimate-crashes", CRASHED)):
            with self.subTest(name):
                done = self.fit(name, "--json")
                self.assertEqual(done.stdout, "")
                call = name.split("-")[0]
                self.assertRegex(done.stderr,
                                 rf"(^|\n)lloyd: the backend '{name}' ended the process in {call}\(\): {how}\n$")

    def test_predict_reports_it_too(self):
        model = self.folder / "model.json"
        run("fit", IRIS, "-k", "3", "--model", model)
        done = run(*folder_option("open-exits"), "predict", model, IRIS, "--backend", "open-exits", status=1)
        self.assertEqual((done.stdout, done.stderr),
                         ("", "lloyd: the backend 'open-exits' ended the process in open(): exit(0)\n"))

    def test_a_run_in_this_process_reports_it_too(self):
        done = run(*folder_option("fit-exits"), "run",
                   self.config("sequential, fit-exits", "isolate: none\n"), status=1)
        self.assertRegex(done.stderr,
                         r"lloyd: the backend 'sequential' or 'fit-exits' ended the process in fit\(\): exit\(0\)\n$")
        run(*folder_option("good"), "run", self.config("good", "isolate: none\n"))
        self.assertEqual(self.records()["good"]["status"], "ok")

    def test_what_was_done_before_a_crash_is_kept(self):
        for name, how in (("exit-crashes", rf"ended the process, whose work was done: {ABORTED}"),
                          ("end-hangs", rf"did not let the process end within {LIMIT} s; "
                                         "--plugin-timeout gives it longer; the work was done")):
            with self.subTest(name):
                output = self.folder / name
                done = self.fit(name, "--plugin-timeout", LIMIT, "--json", "-o", output)
                self.assertEqual(json.loads(done.stdout)["clusters"], 3)
                self.assertRegex(done.stderr, rf"\nlloyd: the backend '{name}' {how}\n$")
                self.assertEqual(sorted(path.name for path in output.iterdir()),
                                 ["centroids.csv", "labels.csv", "model.json"])

    def test_a_plugin_that_loads_once_only_is_reported(self):
        def first_load(name):
            return {**os.environ, "LLOYD_FIRST_LOAD": str(self.folder / name)}
        done = self.fit("second-load-aborts", env=first_load("a"))
        self.assertEqual(done.stderr, f"lloyd: {file_of('second-load-aborts')} ended the process in "
                                      "probe(): signal 6 (Aborted)\n")
        limit = ["--plugin-timeout", str(LIMIT)]
        done = self.fit("second-load-hangs", *limit, env=first_load("b"))
        self.assertEqual(done.stderr, f"lloyd: {file_of('second-load-hangs')} did not return from probe() within {LIMIT} "
                                      "s; --plugin-timeout gives it longer\n")
        run(*folder_option("second-load-hangs"), *limit, "run", self.config("second-load-hangs"), status=1,
            env=first_load("c"))
        record = self.records()["second-load-hangs"]
        self.assertEqual((record["status"], record["reason"]),
                         ("failed", f"the plugin did not load again within {LIMIT} s; --plugin-timeout gives "
                                    "it longer"))

    def start(self, name, **streams):
        self.file = self.copy_of(name)
        process = subprocess.Popen([LLOYD, "--plugin-dir", str(self.file.parent), "fit", str(IRIS), "-k", "3",
                                    "--backend", name], **streams)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for_fit(self, process):
        """Waits until the process that runs the fit is idle. Returns its id."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if (pid := process_with_plugin(process.pid, self.file)) is not None:
                self.wait_until_idle(pid)
                return pid
            time.sleep(0.02)
        self.fail("there is no fit")

    def test_a_second_request_ends_a_plugin_that_blocks_signals(self):
        process = self.start("open-deaf", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        child = self.wait_for_fit(process)
        process.send_signal(signal.SIGTERM)
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGTERM)
        # On a busy machine, the grace period of the first signal may expire before the second arrives.
        self.assertRegex(err, r"^lloyd: the backend 'open-deaf' did not (end within 1 s of a second|return from "
                              r"open\(\) within 10 s of) signal 15 \(Terminated\)\n$")
        self.assertTrue(is_gone(child))

    def test_a_killed_fit_leaves_no_process(self):
        process = self.start("open-deaf", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for_fit(process)
        process.kill()
        process.wait()
        self.assert_gone(str(self.file))

    def test_a_fit_that_somebody_else_kills_is_reported(self):
        process = self.start("open-deaf", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        os.kill(self.wait_for_fit(process), signal.SIGKILL)
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err),
                         (1, "lloyd: the backend 'open-deaf' ended the process in open(): signal 9 (Killed)\n"))

    def test_a_reader_that_leaves_ends_it_as_it_ends_others(self):
        data, model = self.folder / "blobs.npy", self.folder / "model.json"
        run("data", "blobs", data, "--samples", "200000", "--features", "2")
        run("fit", data, "-k", "3", "--max-iterations", "1", "--model", model)
        process = subprocess.Popen([LLOYD, "predict", model, data], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual((process.stderr.read(), process.wait(timeout=60)), ("", -signal.SIGPIPE))
        process.stderr.close()

    def test_progress_and_interrupt_at_a_terminal(self):
        data, model = self.folder / "blobs.npy", self.folder / "model.json"
        run("data", "blobs", data, "--samples", "20000", "--features", "4")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(LLOYD, [LLOYD, "fit", str(data), "-k", "8", "--iterations", "1000000000",
                             "--model", str(model)])
        shown = b""
        while b"iteration " not in shown:
            shown += os.read(terminal, 4096)
        os.write(terminal, b"\x03")
        try:
            while part := os.read(terminal, 4096):
                shown += part
        except OSError:  # the terminal is closed
            pass
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(status), 130, shown)
        self.assertIn(b"\r\x1b[K", shown)
        self.assertEqual(json.loads(model.read_text())["clusters"], 8)


if __name__ == "__main__":
    unittest.main()
