"""Bad plugins of every kind: refused, or failed by verify, while the host continues.

The plugins are in tests/bad_plugins; the tables hold the expected outcome of each."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from hostile_case import process_with_plugin
from program import BAD_PLUGINS, IRIS, LLOYD, SANITIZED, TestCase, is_gone, run, run_json

# AddressSanitizer reports the crash on standard error and aborts.
CRASH = r"signal 6 \(Aborted\)" if SANITIZED else r"signal 11 \(Segmentation fault\)"
ENDED = "the plugin ended the process: "
SHARED = r"the step's for_each_block\(\) calls its body for worker 0 on two threads at once"
# The backends of this build, whatever they are.
HOST = [backend["name"] for backend in run_json("backends")["backends"]]

# Plugin, message that refuses it, after the file's name.
NEVER_LOADED = [
    ("text", "is not a shared library"),
    ("empty", "is not a shared library: it is too short for an ELF header"),
    ("foreign-library", "is a shared library, but not a Lloyd plugin: it has no section .lloyd_plugin"),
    ("no-section", "is a shared library, but not a Lloyd plugin: it has no section .lloyd_plugin"),
    ("wrong-magic", "is not a Lloyd plugin: its section .lloyd_plugin does not begin with Lloyd's "
                    "magic bytes"),
    ("other-abi-major", "was built for plugin ABI 2.0, this program has 1.0: the major numbers must be "
                        "equal"),
    ("newer-abi-minor", "was built for plugin ABI 1.1, this program has 1.0: the plugin must not be "
                        "newer"),
    ("other-tag", f"was built for the platform 'Xinux-{os.uname().machine}-itanium', this program is "
                  f"'linux-{os.uname().machine}-itanium'"),
]
REFUSED = NEVER_LOADED + [
    ("undefined-symbol", "cannot be loaded: {file}: undefined symbol: lloyd_function_that_is_nowhere"),
    ("missing-symbol", "has the section .lloyd_plugin but does not export the symbol lloyd_plugin"),
    ("probe-throws", ": its probe() failed: the table of tiles is missing (StatusCode::unavailable would say that "
                     "there is no device)"),
    ("create-throws", ": its backend could not be created: no license was found"),
    ("create-nothing", ": its backend could not be created: create returned no backend"),
    ("info-choices", ": its backend's info declares the parameter 'layout' with the choice 'rows' twice"),
    ("short-info", ": its backend's info has 40 bytes; at least 80 are needed"),
]

# Plugin, cases to run, failing result, its message (a pattern anchored at its beginning), message of `lloyd fit` (None:
# fit cannot detect the defect, or does not survive it).
FAILED = [
    ("loading-aborts", "*", "load", ENDED + r"signal 6 \(Aborted\)", None),
    ("create-exits", "*", "load", ENDED + r"exit\(3\) in create\(\)", None),
    ("probe-hangs", "*", "load", r"it took longer than 10 s in probe\(\)$", None),
    ("prints-at-exit", "stop/labels*", "exit",
     "the plugin prints to standard output when the process ends: 'tuning was saved", None),
    ("exit-crashes", "stop/labels*", "exit", ENDED + r"signal 6 \(Aborted\)", None),
    ("fit-throws", "stop/labels*", "stop/labels/float32", ".*the matrix is singular",
     "fit-throws: the matrix is singular"),
    ("fit-escapes", "stop/labels*", "stop/labels/float64", ENDED + r"signal 6 \(Aborted\)", None),
    ("fit-exits", "stop/labels*", "stop/labels/float32", ENDED + r"exit\(0\)", None),
    ("fit-crashes", "stop/labels*", "stop/labels/float64", ENDED + CRASH, None),
    ("fit-hangs", "stop/labels/float32", "stop/labels/float32", r"it took longer than 10 s in fit\(\)$", None),
    ("wrong-labels", "invariants/separated", "invariants/separated/float32", ".*row 0 has label",
     "wrong-labels: it reports an inertia of "),
    ("wrong-counts", "invariants/separated", "invariants/separated/float32", ".*cluster 0 has count",
     "wrong-counts: the count of cluster 0 is"),
    ("label-k", "invariants/separated", "invariants/separated/float32", ".*row 0 has label",
     "label-k: the label of sample 0 is 3, with 3 clusters"),
    ("count-overrun", "invariants/separated", "invariants/separated/float32",
     "counts: a value after the last one was written", None),
    ("nan-centroids", "invariants/separated", "invariants/separated/float32", ".*nan",
     "nan-centroids: centroid 0, feature 0 is nan"),
    ("stale-inertia", "invariants/overlapping", "invariants/overlapping/float32",
     ".*inertia is .*; that of the labels and centroids is ", None),
    ("hides-changes", "whole-fit/bad-start", "whole-fit/bad-start/float32",
     ".*0 changed labels are reported in iteration 2",
     "hides-changes: 0 changed labels are reported in iteration 2, but the mean of cluster "),
    ("stops-early", "whole-fit/bad-start", "whole-fit/bad-start/float32",
     ".*the fit ended after 2 iterations, and no stop rule applied", None),
    ("wrong-last-block", "reproducibility/*", "reproducibility/threads/float32",
     r".*iteration 1: row (5[7-9]|60)\d\d\d has label", None),
    ("huge-estimate", "limits/estimate", "limits/estimate/float32", ".*estimate\\(\\) gives ", None),
    ("float32-as-exact", "invariants/near-ties", "invariants/near-ties/float64",
     r".*the definition gives .*allowed excess 0\)", None),
    ("screens-by-distance", "range/near-ties", "range/near-ties/float32",
     r".*the definition gives .*allowed excess 0\)", None),
    ("wraps-parameter", "limits/parameters", "limits/parameters/float32",
     r"group=64: .*row \d+ has label 0 ", None),
    ("hamerly-without-margin", "bisector/ties", "bisector/ties/float32",
     r".*iteration 2: row . has label .*the definition gives .*allowed excess 0\)", None),
    ("margin-of-zero", "bisector/*", "bisector/parameters/float32",
     r"margin=0: .*iteration 2: row . has label .*the definition gives .*allowed excess 0\)", None),
    ("elkan-without-margin", "bisector/drift", "bisector/drift/float64",
     r".*the definition gives .*allowed excess 0\)", None),
    ("ignores-cancel", "cancel/at-iteration", "cancel/at-iteration/float32",
     r"on_iteration returned false in 1: the status is 'ok' \(no error\), expected 'cancelled'", None),
    ("ignores-stride", "layout/strided", "layout/strided/float32", ".*row 1 has label", None),
    ("mutates", "layout/unchanged", "layout/unchanged/float32", r"fit\(\) changed the data set in row 0",
     None),
    ("writes-samples", "lattice/*", "lattice/ties/float32", "the backend changed the samples, which it may only read$",
     None),
    ("writes-centroids", "lattice/*", "lattice/ties/float32", r".*the step changed the centroids of begin_pass\(\)",
     "writes-centroids: the step changed the centroids of begin_pass(), which it may only read: centroid 0 differs "
     "after the pass"),
    ("shares-worker", "invariants/separated", "invariants/separated/float32", ".*" + SHARED,
     "shares-worker: " + SHARED.replace("\\", "")),
    ("overruns-blocks", "invariants/separated", "invariants/separated/float32", r".*row \d+ had a label before its ",
     "overruns-blocks: row 16 had a label before its block was assigned: the step's assign() must write the labels of "
     "its block only"),
    ("prints", "environment/standard-output", "environment/standard-output/float32",
     "the backend prints to standard output: '{\"iterations\": NaN'", None),
    ("prints-once", "*labels*", "stop/labels/float32",
     "the backend prints to standard output: 'tuned for this machine", None),
    ("garbled-notes", "notes/text", "notes/text/float32",
     r"after fit\(\): byte 7 of the notes is 0x0a, a control character", None),
    ("failing-eviction", "device-cache/evict", "device-cache/evict/float32",
     r"before the first fit\(\): evict\(\) failed: the device does not answer", None),
]

CONFIG = """
experiment: bad_plugins
dataset:
  blobs: {samples: 100, features: 2, centers: 4}
clusters: 4
backends: [BACKENDS]
repeats: 1
output: OUTPUT
"""


def file_of(name):
    return BAD_PLUGINS / name / f"lloyd_{name}.so"


def sentence(file, text):
    return f"{file}{'' if text[0] == ':' else ' '}{text.replace('{file}', str(file))}"


def verify(name, *options, env=None):
    return subprocess.run([LLOYD, "verify", file_of(name), *options], capture_output=True, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, timeout=550, env={**os.environ, **(env or {})})


class Table(TestCase):
    """The rows of the tables as checks, which a good plugin must not pass."""

    def check_refused(self, name, text):
        expected = sentence(file_of(name), text)
        done = verify(name)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"lloyd: {expected}\n"))
        listing = run_json("--plugin-dir", BAD_PLUGINS / name, "backends")
        self.assertEqual([entry["reason"] for entry in listing["refused"]], [expected])
        self.assertEqual([backend["name"] for backend in listing["backends"]], HOST)
        fit = run("--plugin-dir", BAD_PLUGINS / name, "fit", IRIS, "-k", "3", "--backend", name,
                  status=2)
        self.assertEqual(fit.stderr, f"lloyd: {expected}\n")

    def check_failed(self, name, cases, failing, message, fit_message):
        done = verify(name, "--case", cases, "--json", "--timeout", "10")
        self.assertEqual(done.returncode, 1, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["backend"], report["verified"]), (name, False))
        messages = {result["name"]: result.get("message", "") for result in report["results"]
                    if result["outcome"] == "failed"}
        self.assertIn(failing, messages)
        self.assertRegex(messages[failing], f"^{message}")
        self.assertEqual(len(messages), report["failed"])
        if fit_message is not None:
            fit = run("--plugin-dir", BAD_PLUGINS / name, "fit", IRIS, "-k", "3", "--backend", name,
                      status=1)
            self.assertEqual(fit.stdout, "")
            self.assertRegex(fit.stderr, rf"^lloyd: {re.escape(fit_message)}[^\n]*\n$")

    def test_each_refused_plugin_is_refused_with_its_sentence(self):
        for row in REFUSED:
            with self.subTest(row[0]):
                self.check_refused(*row)

    def test_each_bad_plugin_is_failed_by_its_case(self):
        for row in FAILED:
            with self.subTest(row[0]):
                self.check_failed(*row)

    def test_every_fixture_is_in_a_table(self):
        tables = {row[0] for row in REFUSED + FAILED} | {"good", "impostor", "twins"}
        tables |= {"moves-files"}  # used by test_outputs.py
        # Used by test_doctor.py, if the compiler has OpenMP.
        tables |= {"brings-openmp"} & {path.name for path in BAD_PLUGINS.iterdir()}
        # Used only by test_workers.py and test_worker_traces.py.
        tables |= {"fit-exits-3", "eats-memory", "prints-much", "garbles-descriptors",
                   "starts-process", "spins-on", "observed-crashes", "observed-exits",
                   "observed-hangs", "observed-eats-memory", "observed-is-silent", "observed-cold",
                   "blocks-signals", "ignores-signals", "starts-daemon", "sleeps"}
        # Used only by test_loading.py.
        tables |= {"loading-exits", "loading-forks", "loading-prints", "probe-aborts", "probe-exits",
                   "probe-stops", "probe-deaf", "probe-closes", "probe-answers", "info-hangs",
                   "info-crashes", "info-long", "info-large", "info-bytes", "info-range", "info-nan",
                   "supports-hangs", "supports-exits", "supports-throws", "estimate-crashes", "estimate-throws",
                   "open-exits", "open-deaf", "end-hangs", "second-load-aborts", "second-load-hangs"}
        tables |= {"open-hangs", "pass-hangs"}  # used below
        # Used by test_process_state.py, test_results.py and test_supervision.py.
        tables |= {"meddles", "garbage", "hostile", "garbled-texts"}
        tables |= {"long-summary"}  # used by test_command_line.py
        # Used by test_release.py.
        tables |= {"session-crashes", "session-exits", "session-hangs", "backend-crashes", "backend-hangs"}
        self.assertEqual({path.name for path in BAD_PLUGINS.iterdir()}, tables)

    def test_a_good_plugin_is_neither(self):
        with self.assertRaises(AssertionError):
            self.check_refused("good", REFUSED[0][1])
        for cases in sorted({row[1] for row in FAILED} - {"*"}):
            with self.subTest(cases):
                done = verify("good", "--case", cases)
                self.assertEqual(done.returncode, 0, done.stdout)
                with self.assertRaises(AssertionError):
                    self.check_failed("good", cases, cases, "", None)


class Loading(TestCase):
    def loads(self, name):
        """True if a static constructor of the plugin runs during verify or backends."""
        mark = self.folder / "mark"
        env, loaded = {"LLOYD_LOADING_MARK": str(mark)}, []
        verify(name, "--case", "description/info", env=env)
        loaded.append(mark.exists())
        mark.unlink(missing_ok=True)
        run("--plugin-dir", BAD_PLUGINS / name, "backends", env=env)
        loaded.append(mark.exists())
        mark.unlink(missing_ok=True)
        return loaded

    def test_nothing_runs_of_a_plugin_that_its_file_refuses(self):
        self.assertEqual(self.loads("good"), [True, True])
        for name, _ in NEVER_LOADED:
            with self.subTest(name):
                self.assertEqual(self.loads(name), [False, False])


class HostGoesOn(TestCase):
    """All refused plugins in one folder with a good one."""

    def setUp(self):
        super().setUp()
        self.plugins = self.folder / "plugins"
        self.plugins.mkdir()
        for name in ["good"] + [row[0] for row in REFUSED]:
            shutil.copy(file_of(name), self.plugins)

    def config(self, backends):
        text = CONFIG.replace("BACKENDS", backends).replace("OUTPUT", str(self.folder / "out"))
        return self.write("config.yaml", text)

    def test_backends_lists_the_good_and_the_reasons(self):
        listing = run_json("--plugin-dir", self.plugins, "backends")
        self.assertEqual([backend["name"] for backend in listing["backends"]],
                         sorted(["good"] + HOST))
        expected = {sentence(self.plugins / f"lloyd_{name}.so", text) for name, text in REFUSED}
        self.assertEqual({entry["reason"] for entry in listing["refused"]}, expected)
        text = run("--plugin-dir", self.plugins, "backends").stdout
        for reason in expected:
            self.assertIn(f"\nrefused: {reason}\n", text)

    def test_fit_and_run_with_good_backends_do_not_notice(self):
        for backend in ["sequential", "good"]:
            run("--plugin-dir", self.plugins, "fit", IRIS, "-k", "3", "--backend", backend)
        run("--plugin-dir", self.plugins, "run", self.config("sequential, good"))
        records = (self.folder / "out" / "records.jsonl").read_text().splitlines()
        self.assertEqual([json.loads(line)["status"] for line in records], ["ok", "ok"])

    def test_run_that_names_a_refused_one_ends_before_anything_is_computed(self):
        for name, text in REFUSED:
            with self.subTest(name):
                done = run("--plugin-dir", self.plugins, "run", self.config(f"sequential, {name}"),
                           status=2)
                self.assertIn(sentence(self.plugins / f"lloyd_{name}.so", text), done.stderr)
                self.assertFalse((self.folder / "out").exists())

    def test_two_plugins_of_one_name_are_both_refused(self):
        option = ["--plugin-dir", BAD_PLUGINS / "twins"]
        listing = run_json(*option, "backends")
        self.assertEqual([backend["name"] for backend in listing["backends"]], HOST)
        reasons = [entry["reason"] for entry in listing["refused"]]
        self.assertEqual(len(reasons), 2)
        for reason in reasons:
            self.assertIn(f"two plugins are named 'twin': {BAD_PLUGINS / 'twins' / 'lloyd_twin-a.so'} and ", reason)
        named = run(*option, "fit", IRIS, "-k", "3", "--backend", "twin", status=2)
        self.assertIn("lloyd: two plugins are named 'twin': ", named.stderr)
        run(*option, "fit", IRIS, "-k", "3", "--backend", "openmp")

    def test_a_plugin_of_plugin_dir_hides_an_installed_one(self):
        listing = run_json("--plugin-dir", BAD_PLUGINS / "impostor", "backends")
        self.assertEqual([backend["name"] for backend in listing["backends"]], HOST)
        found = {backend["name"]: backend["summary"] for backend in listing["backends"]}
        good = run_json("--plugin-dir", BAD_PLUGINS / "good", "backends")["backends"]
        self.assertEqual(found["sequential"], {backend["name"]: backend["summary"] for backend in good}["good"])
        reasons = [entry["reason"] for entry in listing["refused"]]
        self.assertEqual(len(reasons), 1)
        self.assertRegex(reasons[0], r"/lloyd_sequential\.so: not used: .+/lloyd_impostor\.so, in a folder that is "
                                     "searched first, is also a plugin named 'sequential'$")

    def test_a_plugin_dir_without_plugins_is_noted(self):
        done = run("--plugin-dir", self.folder, "backends")
        self.assertEqual(done.stderr, f"lloyd: --plugin-dir: {self.folder} has no file lloyd_NAME.so; its subfolders "
                                      "are not searched\n")
        self.assertEqual(run("--plugin-dir", BAD_PLUGINS / "good", "backends").stderr, "")


class Run(TestCase):
    def test_canonical_backends_that_differ_are_named(self):
        config = CONFIG.replace("BACKENDS", "sequential, good, stops-early").replace("centers: 4", "centers: 2, std: 9")
        config = self.write("config.yaml", config.replace("OUTPUT", str(self.folder / "out")))
        options = [word for name in ("good", "stops-early") for word in ("--plugin-dir", BAD_PLUGINS / name)]
        done = run(*options, "run", config)
        self.assertRegex(" ".join(done.stdout.split()),
                         r"! good has \d+ iterations and inertia [\d.]+, stops-early has 2 iterations and inertia "
                         r"[\d.]+; both state canonical results, which are the same bits, so one of them is wrong: "
                         r"lloyd verify finds out which")
        self.assertNotIn("sequential has", done.stdout)


class Process(TestCase):
    def test_a_plugin_that_ends_the_process_hides_no_case(self):
        def names(name, status):
            done = verify(name, "--json")
            self.assertEqual((done.returncode, done.stdout[:1]), (status, "{"), done.stderr)
            results = json.loads(done.stdout)["results"]
            return [result["name"] for result in results], results
        planned, _ = names("good", 0)
        reported, results = names("fit-exits", 1)
        self.assertEqual(reported, planned)
        self.assertGreater(len(planned), 100)
        failed = {result.get("message") for result in results if result["outcome"] == "failed"}
        self.assertEqual(failed, {ENDED + "exit(0) in fit()"})

    def test_equal_failures_are_printed_once_and_again_at_the_end(self):
        done = verify("fit-exits", "--case", "stop/*", "--case", "description/*")
        self.assertEqual(done.returncode, 1, done.stderr)
        lines, end = done.stdout.split("\nfailed:\n")
        failed = re.findall(r"^failed  (\S+): (.*)$", lines, re.M)
        first = failed[0][0]
        self.assertEqual(failed[0], ("stop/labels/float32", ENDED + "exit(0) in fit()"))
        self.assertEqual({message for _, message in failed[1:]}, {f"same failure as {first}"})
        self.assertGreater(len(failed), 10)
        self.assertRegex(lines, r"(?m)^passed  description/info")
        self.assertRegex(end, rf"^  {len(failed)} times: {re.escape(ENDED)}exit\(0\) in fit\(\)\n    stop/labels,")
        self.assertRegex(end, rf"\n\nfit-exits \S+: \d+ passed, {len(failed)} failed, 0 skipped\n$")

    def test_memory_errors_hint_at_the_sanitizer(self):
        done = verify("fit-crashes", "--case", "stop/labels*")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"\n\nhint: 2 cases failed as if the plugin accesses memory out of bounds .*\. "
                                      r".* LD_PRELOAD=\$\(g\+\+ -print-file-name=libasan\.so\) lloyd verify PLUGIN\. "
                                      r"See 'When a case fails' in docs/write_a_backend\.md\n\nfit-crashes ")
        # Many failures of several kinds, and an exception.
        for name, cases in (("wrong-labels", ["invariants/*", "stop/*"]), ("fit-throws", ["stop/*"])):
            done = verify(name, *(word for case in cases for word in ("--case", case)))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertNotIn("hint: ", done.stdout)

    def test_failures_that_differ_in_numbers_are_one_group(self):
        done = verify("wrong-labels", "--case", "invariants/*")
        groups = re.findall(r"^  (?:\d+ times: )?\S.*has label", done.stdout.split("\nfailed:\n")[1], re.M)
        self.assertEqual(len(groups), 1, done.stdout)

    def test_the_parameter_value_in_effect_is_named(self):
        for how, options, text in (
                ("abort", [], r"the plugin ended the process: signal 6 \(Aborted\) in fit\(\)"),
                ("hang", ["--timeout", "5"], r"it took longer than 5 s in fit\(\)")):
            with self.subTest(how):
                done = verify("wraps-parameter", "--case", "limits/parameters/float32", "--json", *options,
                              env={"LLOYD_WRAPPED": how})
                self.assertEqual(done.returncode, 1, done.stderr)
                messages = [result.get("message", "") for result in json.loads(done.stdout)["results"]]
                self.assertEqual(len(messages), 1)
                self.assertRegex(messages[0], f"^group=64: {text}$")

    def test_a_plugin_that_hangs_everywhere_is_abandoned(self):
        done = verify("fit-hangs", "--case", "stop/*", "--timeout", "10", "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual([result.get("message") for result in report["results"]],
                         ["it took longer than 10 s in fit()"] * 3)
        self.assertRegex(report["stopped"],
                         r"^3 cases took longer than 10 s each, so the rest was not run \(\d+ cases\); --timeout")
        self.assertEqual(done.stderr, f"lloyd: {report['stopped']}\n")

    def test_the_call_that_hangs_is_named(self):
        for plugin, case, call in (("supports-hangs", "stop/labels/float32", r"supports\(\)"),
                                   ("open-hangs", "stop/labels/float32", r"open\(\)"),
                                   ("pass-hangs", "pass/sequence/float32", r"PassKernels::pass\(\)"),
                                   ("session-hangs", "stop/labels/float32", r"release\(\) of its session"),
                                   ("backend-hangs", "stop/labels/float32", r"release\(\)")):
            with self.subTest(plugin):
                done = verify(plugin, "--case", case, "--timeout", "5", "--json")
                self.assertEqual(done.returncode, 1, done.stderr)
                messages = [result.get("message", "") for result in json.loads(done.stdout)["results"]]
                self.assertRegex(messages[-1], rf"it took longer than 5 s in {call}$")

    def test_what_a_plugin_prints_is_not_mixed_with_results(self):
        done = verify("prints", "--case", "stop/labels*", "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertFalse(json.loads(done.stdout)["verified"])
        self.assertIn('{"iterations": NaN', done.stderr)

    def start_hanging(self):
        """verify of a plugin that hangs, and the process in which it hangs."""
        process = subprocess.Popen([LLOYD, "verify", file_of("fit-hangs")], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            child = process_with_plugin(process.pid, file_of("fit-hangs"))
            if child is not None:
                self.wait_until_idle(process.pid, child)
                return process, child
            time.sleep(0.01)
        process.kill()
        self.fail(f"verify has started no process: {process.communicate()}")

    def test_notes_of_a_session_are_printed_and_recorded(self):
        option = ["--plugin-dir", BAD_PLUGINS / "garbled-notes"]
        fit = ["fit", IRIS, "-k", "3", "--backend", "garbled-notes"]
        self.assertIn("\nnotes       two way?split\n", run(*option, *fit).stdout)
        self.assertEqual(run_json(*option, *fit)["notes"], "two way?split")
        self.assertIsNone(run_json("fit", IRIS, "-k", "3", "--backend", "sequential")["notes"])
        text = CONFIG.replace("BACKENDS", "sequential, garbled-notes")
        config = self.write("config.yaml", text.replace("OUTPUT", str(self.folder / "out")))
        run(*option, "run", config)
        records = (self.folder / "out" / "records.jsonl").read_text().splitlines()
        records = sorted(map(json.loads, records), key=lambda record: record["plan"]["variant"])
        self.assertEqual([record["notes"] for record in records], [None, "two way?split"])

    def test_interrupt_ends_both_processes(self):
        for number, status in [(signal.SIGINT, 130), (signal.SIGTERM, 130),
                               (signal.SIGKILL, -signal.SIGKILL)]:
            with self.subTest(number):
                process, child = self.start_hanging()
                process.send_signal(number)
                out, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, status)
                if status == 130:
                    self.assertEqual(err, "lloyd: interrupted; the remaining cases were not run\n")
                    self.assertNotIn("nothing was verified", out)
                deadline = time.monotonic() + 60
                while not is_gone(child) and time.monotonic() < deadline:
                    time.sleep(0.01)
                self.assertTrue(is_gone(child))


if __name__ == "__main__":
    unittest.main()
