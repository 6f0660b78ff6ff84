"""Changes of the process state by a plugin: failed by verify, and harmless elsewhere."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import BAD_PLUGINS, IRIS, LLOYD, TestCase, run

PLUGIN = BAD_PLUGINS / "meddles" / "lloyd_meddles.so"
OPTION = ["--plugin-dir", BAD_PLUGINS / "meddles"]
# Action -> its description by verify.
DONE = {
    "chdir": "the working directory",
    "umask": "the file mode mask (umask)",
    "close-output": "standard output",
    "replace-output": "standard output",
    "nonblocking": "standard input",
    "block": "the signals that are blocked",
    "ignore": "what signal 15 (Terminated) does",
    "locale": "the locale",
    "thread-locale": "the locale of the calling thread (uselocale)",
    "cpp-locale": "the global locale of C++",
    "setenv": "the environment variable LLOYD_MEDDLED",
    "limit": "resource limit 1 of setrlimit(2)",
    "rounding": "the floating-point modes",
    "alarm": "the timers of setitimer(2) or alarm(2)",
    "terminate": "the handler of std::terminate",
}
# A plugin with its own libstdc++ also has its own terminate handler and locale, so it does no harm.
if b"libstdc++.so" not in pathlib.Path(LLOYD).read_bytes():
    del DONE["terminate"], DONE["cpp-locale"]
CONFIG = """
experiment: meddling
dataset: {blobs: {samples: 100, features: 2, centers: 4}}
clusters: 4
backends: [sequential, meddles]
repeats: 2
"""


class ProcessState(TestCase):
    def verify(self, meddle, status):
        done = run("verify", PLUGIN, "--case", "environment/*", "--json", status=status,
                   env={"LLOYD_MEDDLE": meddle})
        return {result["name"]: result["message"] for result in json.loads(done.stdout)["results"]
                if result["outcome"] == "failed"}

    def test_verify_fails_what_changes_the_process(self):
        self.assertEqual(self.verify("", 0), {})
        for what, name in DONE.items():
            with self.subTest(what):
                failed = self.verify(f"fit {what}", 1)
                for dtype in ("float32", "float64"):
                    self.assertEqual(failed[f"environment/process-state/{dtype}"],
                                     f"fit() changes {name}")

    def test_verify_looks_at_every_call(self):
        for call in ["open", "partial"]:
            self.assertEqual(self.verify(f"{call} chdir", 1)["environment/process-state/float32"],
                             f"{call}() changes the working directory")
        for call in ["probe", "create"]:
            for what, name in DONE.items():
                with self.subTest(f"{call} {what}"):
                    self.assertEqual(
                        self.verify(f"{call} {what}", 1),
                        {"load": f"the plugin changes {name} when it is loaded, in a constructor, "
                                 "probe() or create()"})
        self.assertEqual(
            self.verify("create print", 1),
            {"load": "the plugin prints to standard output when it is loaded: '{\"iterations\": NaN'"})

    def test_verify_ends_where_the_ends_of_processes_are_ignored(self):
        for signals in (signal.SIG_DFL, signal.SIG_IGN):
            done = subprocess.run([LLOYD, "verify", PLUGIN, "--case", "environment/*"], text=True,
                                  stdout=subprocess.PIPE, timeout=120,
                                  preexec_fn=lambda: signal.signal(signal.SIGCHLD, signals))
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_verify_fails_what_reads_the_input(self):
        self.assertEqual(self.verify("fit read", 1)["environment/standard-input/float32"],
                         "the backend reads from standard input")

    def test_results_of_fit_are_whole(self):
        for call in ["create", "estimate", "open", "fit", "exit"]:
            for what in [*DONE, "print"]:
                with self.subTest(f"{call} {what}"):
                    done = run(*OPTION, "fit", IRIS, "-k", "3", "--backend", "meddles", "--json",
                               "--labels", "labels.npy", cwd=self.folder,
                               env={"LLOYD_MEDDLE": f"{call} {what}"})
                    self.assertEqual(json.loads(done.stdout)["check"]["samples"], 150)
                    labels = self.folder / "labels.npy"
                    self.assertEqual(labels.stat().st_mode & 0o777, 0o666 & ~self.mask())
                    labels.unlink()

    def mask(self):
        mask = os.umask(0)
        os.umask(mask)
        return mask

    def test_predict_is_whole(self):
        run("fit", IRIS, "-k", "3", "--model", self.folder / "model.json")
        for meddle in ["create print", "open chdir", "partial print", "exit print"]:
            done = run(*OPTION, "predict", self.folder / "model.json", IRIS, "--backend", "meddles",
                       "--json", "--labels", "labels.npy", cwd=self.folder,
                       env={"LLOYD_MEDDLE": meddle})
            self.assertEqual(json.loads(done.stdout)["check"]["samples"], 150)
            (self.folder / "labels.npy").unlink()

    def test_closed_descriptors_are_not_a_silent_success(self):
        done = run(*OPTION, "fit", IRIS, "-k", "3", "--backend", "meddles", "--json", status=1,
                   env={"LLOYD_MEDDLE": "fit close-all"})
        self.assertEqual(done.stdout, "")

    def test_records_are_where_they_should_be(self):
        config = self.write("config.yaml", CONFIG)
        for mode in ["worker", "trial", "none"]:
            for call in ["create", "fit", "exit"]:
                for what in ["chdir", "umask", "close-output", "print", "block", "limit"]:
                    with self.subTest(f"{mode} {call} {what}"):
                        done = run(*OPTION, "run", config, "--output", "out", "--json",
                                   "--set", f"isolate={mode}", cwd=self.folder,
                                   env={"LLOYD_MEDDLE": f"{call} {what}"})
                        self.assertEqual(len(json.loads(done.stdout)["rows"]), 2)
                        records = self.folder / "out" / "records.jsonl"
                        statuses = [json.loads(line)["status"]
                                    for line in records.read_text().splitlines()]
                        self.assertEqual(statuses, ["ok"] * 4)
                        records.unlink()
                        (self.folder / "out" / "summary.csv").unlink()


if __name__ == "__main__":
    unittest.main()
