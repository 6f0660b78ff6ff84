"""External programs as backends of an experiment."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import LLOYD, ROOT, TestCase, leaves_no_descriptor, process_folders, run

PROGRAM = (ROOT / "tests" / "cli" / "external_program.py").read_text()
# Executes its arguments where close_range(2), whose number is the same on all architectures, gives ENOSYS.
NO_CLOSE_RANGE = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
filter = b"".join(struct.pack("HBBI", *line) for line in (
    (0x20, 0, 0, 0),                  # load the number of the call
    (0x15, 0, 1, 436),                # close_range?
    (0x06, 0, 0, 0x00050000 | 38),    # fail with ENOSYS
    (0x06, 0, 0, 0x7FFF0000)))        # allow
lines = ctypes.create_string_buffer(filter)
program = ctypes.create_string_buffer(struct.pack("HP", 4, ctypes.addressof(lines)))
if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
    sys.exit(77)
if libc.syscall(436, 1 << 20, 1 << 20, 0) == 0 or ctypes.get_errno() != 38:
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
"""

CONFIG = """
experiment: external
dataset: {blobs: {samples: 120, features: 3, centers: 4, std: 4.0, seed: 3}}
clusters: 4
seeding: {method: random, seed: 1}
stop: {iterations: 3}
backends: [sequential, external: {program: PROGRAM}]
baseline: sequential
repeats: 2
output: OUTPUT
"""


def quoted(path):
    """A path as YAML text: a folder's name may have a comma."""
    return f"'{path}'"


class External(TestCase):
    def program(self, mode):
        file = pathlib.Path(self.write(f"{mode}.py", PROGRAM.replace('"honest"', f'"{mode}"', 1)))
        file.chmod(0o755)
        return file

    def experiment(self, mode, program="{program: PROGRAM}", status=0, more="", options=(), stop="{iterations: 3}"):
        self.output = self.folder / f"results-{mode}"
        config = CONFIG.replace("{program: PROGRAM}", program).replace("{iterations: 3}", stop)
        config = config.replace("PROGRAM", quoted(self.program(mode))).replace("OUTPUT", str(self.output))
        return run(*options, "run", self.write("config.yaml", config + more), status=status)

    def records(self):
        return [json.loads(line) for line in (self.output / "records.jsonl").read_text().splitlines()]

    def of_program(self):
        return [record for record in self.records() if record["backend"]["name"] != "sequential"]

    def test_its_fit_is_that_of_the_others(self):
        done = self.experiment("honest", "{program: PROGRAM, speed: slower, threads: [1, 2]}")
        self.assertIn("plain-python threads=2", done.stdout)
        first, last = (next(record for record in self.of_program()
                            if record["backend"]["parameters"]["threads"] == threads) for threads in (1, 2))
        self.assertEqual(first["backend"]["version"], "1.2")
        self.assertEqual(last["backend"]["parameters"], {"speed": "slower", "threads": 2, "loud": False})
        reference = self.records()[0]
        self.assertAlmostEqual(last["inertia"] / reference["inertia"], 1, 6)
        self.assertEqual((last["status"], last["iterations"], last["notes"]), ("ok", 3, "all in loops"))
        self.assertGreater(last["loop_ms"], 0)
        # fit_ms excludes the exchange of files with Lloyd.
        for record in self.of_program():
            self.assertAlmostEqual(record["fit_ms"], record["loop_ms"] + record["closing_ms"], 9)

    def test_distances_are_those_that_it_reports(self):
        done = self.experiment("honest")
        self.assertEqual({record["distances"] for record in self.of_program()}, {None})
        self.assertIn("plain-python *", done.stdout)
        self.assertIn("or does not say how many", " ".join(done.stdout.split()))
        self.assertEqual(run("report", self.output).stdout, done.stdout[:done.stdout.index("\nrecords: ")])
        done = self.experiment("counts")
        self.assertEqual({record["distances"] for record in self.of_program()}, {120 * 4 * 4})
        self.assertNotIn("*", done.stdout)

    def test_it_can_be_the_baseline(self):
        config = CONFIG.replace("baseline: sequential", "baseline: plain-python")
        config = config.replace("PROGRAM", quoted(self.program("honest")))
        done = run("run", self.write("c.yaml", config.replace("OUTPUT", str(self.folder / "r"))))
        self.assertRegex(done.stdout, r"plain-python .*baseline")

    def test_a_relative_path_starts_at_the_experiment(self):
        self.program("honest")
        config = CONFIG.replace("PROGRAM", "honest.py").replace("OUTPUT", str(self.folder / "r"))
        run("run", self.write("c.yaml", config), cwd="/")

    def test_what_goes_wrong_costs_its_own_trials_alone(self):
        sentences = {
            "crashes": "the program {} ended: signal 6 (Aborted)",
            "exits": "the program {} ended: exit status 3",
            "endless": "answered more than 1048576 bytes without a line feed",
            "garbage": "the program {} answered the request 'fit' with '{{not json': it is not JSON: "
                       "unexpected 'o' at byte 3",
            "fails": "the moon is full",
            "label-k": "the label of sample 3 is 4, with 4 clusters",
            "too-few-labels": "labels.npy is 119 x 1, not 120 x 1",
            "early": "it stopped after 2 of 3 iterations",
            "no-time": "'loop_ms' is missing",
            "counts-badly": "'distances' is -1",
            "answers-open-twice": "the program {} answered the request 'open' twice, the second time '{{}}'",
            "talks-to-terminals": "the program {} ended: signal 6 (Aborted); last words: ?[31mserving",
            "changes": "it has changed since the run began: accuracy for float32 'half', was "
                       "'float32'; accuracy for float64 'half', was 'float32'; version '1.3', was '1.2'",
            "empty-line": "the program {} answered the request 'fit' with an empty line",
            "closes-output": "the program {} closed its output and did not end within 20 s",
            "says-nothing": "it failed, and its 'error' is empty",
        }
        for mode, sentence in sentences.items():
            with self.subTest(mode):
                done = self.experiment(mode, status=1)
                self.assertNotIn("\033", done.stderr)
                for record in self.of_program():
                    self.assertEqual(record["status"], "failed")
                    self.assertIn(sentence.format(self.folder / f"{mode}.py"), record["reason"])
                    self.assertNotIn("plugin", record["reason"])
                others = [r for r in self.records() if r["backend"]["name"] == "sequential"]
                self.assertEqual([record["status"] for record in others], ["ok", "ok"])

    def test_a_fit_that_may_end_early_is_held_to_what_it_says(self):
        for mode, most, sentence in (
                ("gives-up", 4, "it stopped after 1 of 4 iterations and says that it has not converged"),
                ("claims-much", 2**60, f"it reports {2**60} iterations, whose distances are more than 2^63")):
            with self.subTest(mode):
                self.experiment(mode, status=1, stop=f"{{max_iterations: {most}, tolerance: 0}}")
                for record in self.of_program():
                    self.assertEqual(record["status"], "failed")
                    self.assertIn(sentence, record["reason"])

    def test_wrong_labels_forbid_a_speedup(self):
        done = self.experiment("wrong-labels")
        row = next(line for line in done.stdout.splitlines() if line.startswith("plain-python"))
        self.assertRegex(row, r"inertia|wrong")

    def test_what_is_no_program_is_refused(self):
        sentences = {
            "no-description": r"does not describe itself as an external program: ",
            "describe-fails": r"the program [^\n]+describe-fails.py ended: exit status 5\n",
            "describe-talks": r"ended: exit status 6; last words: \?\[31mdescribing\n",
            "other-protocol": r"'protocol' is 2, not 1",
            "two-lines": r"'summary' is 'loops\?and more', not one line\n",
            "describe-closes-output": r"closed its output and did not end within 20 s\n",
        }
        for mode, sentence in sentences.items():
            with self.subTest(mode):
                done = self.experiment(mode, status=2)
                self.assertRegex(done.stderr, r"^lloyd: [^\n]*config.yaml:\d+:\d+: [^\n]*" + sentence)
        (self.folder / "text").write_text("#!/bin/sh\n")
        (self.folder / "lloyd_text.so").write_text("#!/bin/sh\n")
        (self.folder / "lloyd_text.so").chmod(0o755)
        for name, line in {"no-line": "print(1)", "no-name": "#! ", "no-interpreter": "#!/nowhere/python3 -u",
                           "folder-interpreter": "#! /", "carriage-return": "#!/bin/sh\r"}.items():
            (self.folder / name).write_bytes(line.encode() + b"\n")
            (self.folder / name).chmod(0o755)
        (self.folder / "folder").mkdir()
        for program, sentence in {
            "{program: nowhere}": "nowhere does not exist\n",
            "{program: folder}": "folder is a folder, not a program\n",
            "{program: no-line}": "no-line: it is neither a program for this machine nor a script that begins with '#!' and "
                                  "the path of its interpreter\n",
            "{program: no-name}": "no-name: its first line names no interpreter\n",
            "{program: no-interpreter}": "the interpreter in its first line, '/nowhere/python3', does not exist\n",
            "{program: folder-interpreter}": "the interpreter in its first line, '/', cannot be executed\n",
            "{program: carriage-return}": "its first line ends with a carriage return; the lines of a script must end "
                                          "with LF\n",
            "{program: ./lloyd_text.so}": "is named like a plugin; the name of a program must not end in '.so'",
            "{program: text}": "text is not an executable file",
            "{}": "'external' needs 'program', the path of a program",
            "{program: [a, b]}": "'external.program' must be one path",
            "{program: PROGRAM, volume: 3}": "volume",
            "{program: PROGRAM, threads: 9}": "9",
        }.items():
            with self.subTest(program):
                done = self.experiment("honest", program, status=2)
                self.assertIn(sentence, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)

    def test_processes_that_a_description_leaves_behind_are_ended(self):
        for mode in ("leaves-child", "leaves-daemon"):
            for isolation in ("worker", "none"):
                with self.subTest(mode, isolation=isolation):
                    self.experiment(mode, more=f"isolate: {isolation}\n")
                    self.assertEqual([record["status"] for record in self.of_program()], ["ok"] * 2)
                    self.assertEqual(self.running("describe"), [])
                    (self.output / "records.jsonl").unlink()

    def test_what_goes_wrong_with_closing_costs_no_trial(self):
        sentences = {
            "close-exits": "the program {} ended: exit status 4",
            "close-hangs": "the program {} was killed instead of closed, as it did not answer the request "
                           "'close' before",
            "close-fails": "the ?[1mlid?[0m is stuck?",
            "answers-close-twice": "the program {} answered the request 'close' twice, the second time '{{}}'",
            "answers-fit-twice": "the program {} answered the request 'fit' twice, the second time "
                                 "'{{\"iterations\": ",
            "answers-fit-late": "the program {} answered the request 'fit' twice, the second time "
                                "'{{\"iterations\": ",
        }
        for mode, sentence in sentences.items():
            for isolation in ("worker", "trial", "none"):
                with self.subTest(mode, isolation=isolation):
                    seconds = 5 if mode == "close-hangs" else 60  # none but this one waits until then
                    done = self.experiment(mode, more=f"isolate: {isolation}\n",
                                           options=["--plugin-timeout", seconds])
                    records = self.of_program()
                    for record in records:
                        self.assertEqual((record["status"], record["reason"]), ("ok", None))
                        self.assertEqual(record["iterations"], 3)
                    said = [record["release_failure"] for record in records]
                    for text in said:
                        self.assertIn(sentence.format(self.folder / f"{mode}.py"), text)
                    self.assertEqual(done.stderr.count(f"plain-python: {said[0]}\n"), 1, done.stderr)
                    (self.output / "records.jsonl").unlink()

    def test_a_program_that_ends_between_sessions_costs_no_trial(self):
        for isolation in ("worker", "trial", "none"):
            with self.subTest(isolation=isolation):
                self.experiment("closes-and-exits", more=f"isolate: {isolation}\n")
                self.assertEqual([(record["status"], record["reason"]) for record in self.of_program()],
                                 [("ok", None)] * 2)
                (self.output / "records.jsonl").unlink()

    def test_late_answers_to_a_former_session_cost_no_trial(self):
        for late, sentence in (("close", "answered the request 'close' or 'open' twice, the second time '{}'"),
                               ("fit", "answered the request 'fit' twice, the second time '{\"iterations\": ")):
            for isolation in ("worker", "none"):
                with self.subTest(late, isolation=isolation):
                    self.experiment(f"answers-after-open-{late}", more=f"isolate: {isolation}\n")
                    records = self.of_program()
                    self.assertEqual([(record["status"], record["reason"]) for record in records], [("ok", None)] * 2)
                    # A session that compares results comes before the trials.
                    for record in records:
                        self.assertIn(sentence, record["release_failure"])
                    (self.output / "records.jsonl").unlink()

    def test_the_first_failure_is_reported_in_whichever_repeat_it_is(self):
        self.output = self.folder / "results"
        config = CONFIG.replace("repeats: 2", "repeats: 8").replace("OUTPUT", str(self.output))
        config = config.replace("PROGRAM", quoted(self.program("fails-later")))
        done = run("run", self.write("config.yaml", config), status=1)
        statuses = [record["status"] for record in self.of_program()]
        self.assertEqual((statuses[0], statuses[-1]), ("ok", "failed"))
        self.assertEqual(done.stderr.count("plain-python failed: plain-python: the moon is full"), 1, done.stderr)

    @unittest.skipIf(sys.platform != "linux", "seccomp is a filter of Linux")
    def test_without_close_range(self):
        """As on kernels before 5.9, and in containers whose filter of system calls does not know it."""
        config = CONFIG.replace("PROGRAM", quoted(self.program("honest"))).replace("OUTPUT", str(self.folder / "r"))
        done = subprocess.run([sys.executable, "-c", NO_CLOSE_RANGE, LLOYD, "run", self.write("c.yaml", config)],
                              capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        if done.returncode == 77:
            self.skipTest("system calls cannot be filtered here")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_closing_has_a_deadline_of_its_own(self):
        # The timeout is longer than a fit takes on a busy machine, and shorter than --plugin-timeout.
        self.experiment("close-hangs", more="isolate: worker\ntimeout: 10\n")
        for record in self.of_program():
            self.assertEqual((record["status"], record["reason"]), ("ok", None))
            self.assertIn("was killed instead of closed, as it did not answer the request 'close' before",
                          record["release_failure"])

    def test_results_of_another_shape_are_not_read(self):
        for file, shape in (("labels", "120 x 1"), ("final_centroids", "4 x 3")):
            with self.subTest(file):
                self.experiment(f"huge-{file}", status=1, more="isolate: worker\nmemory_limit: 500MiB\n")
                for record in self.of_program():
                    self.assertEqual(record["status"], "failed")
                    self.assertIn(f"{file}.npy is 134217728 x 1, not {shape}", record["reason"])

    @leaves_no_descriptor
    def test_an_experiment_of_a_program_without_descriptors_is_not_to_blame(self):
        self.experiment("honest")  # creates the files
        (self.output / "records.jsonl").unlink()
        refused = 0
        for limit in range(5, 14):
            done = subprocess.run(["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", LLOYD, "run",
                                   str(self.folder / "config.yaml")],
                                  capture_output=True, text=True, timeout=300)
            self.assertNotIn("config.yaml:", done.stderr)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("Too many open files", done.stderr)
            refused += not (self.output / "records.jsonl").exists()
            (self.output / "records.jsonl").unlink(missing_ok=True)
        self.assertGreater(refused, 0)

    def test_two_of_one_name_are_refused(self):
        file = self.program("honest")
        file.write_text(file.read_text().replace("plain-python", "sequential"))
        config = CONFIG.replace("PROGRAM", quoted(file)).replace("OUTPUT", str(self.folder / "r"))
        done = run("run", self.write("c.yaml", config), status=2)
        self.assertIn("two backends of the experiment are called 'sequential': Lloyd's own plugin and "
                      f"{file}\n", done.stderr)

    def test_one_that_is_unavailable_is_skipped(self):
        self.experiment("unavailable")
        self.assertEqual({(record["status"], record["reason"]) for record in self.of_program()},
                         {("skipped", "it rains")})
        # The program need not declare its parameters.
        self.experiment("unavailable", "{program: PROGRAM, threads: [1, 2]}")
        self.assertEqual([record["backend"]["parameters"] for record in self.of_program()[1:]],
                         [{"threads": "1"}, {"threads": "2"}])

    def test_it_prepares_before_the_first_trial(self):
        for mode in ("prepares", "prepares-not", "prepares-exits", "prepares-dies"):
            with self.subTest(mode):
                # By this order, the first trial is that of the other backend.
                self.experiment(mode, "{program: PROGRAM, threads: [1, 2]}", more="order_seed: 1\n")
                records = self.records()
                self.assertEqual(records[0]["backend"]["name"], "sequential")
                self.assertEqual([(record["status"], record["reason"]) for record in records], [("ok", None)] * 6)
                # Each of the two processes was asked once, first of all, and no trial ended meanwhile.
                self.assertEqual(pathlib.Path(f"{self.program(mode)}.prepared").read_text(), "0\n0\n")

    def test_it_is_not_prepared_if_its_trials_are_done(self):
        self.experiment("prepares")
        prepared = pathlib.Path(f"{self.program('prepares')}.prepared")
        prepared.unlink()
        kept = self.of_program()
        (self.output / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in kept))
        self.assertIn("2 of 4 trials left", run("run", self.folder / "config.yaml", "--resume").stderr)
        self.assertEqual({record["status"] for record in self.records()}, {"ok"})
        self.assertEqual(len(self.records()), 4)
        self.assertFalse(prepared.exists())

    def test_a_failed_early_start_is_that_of_its_own_trial(self):
        self.experiment("prepares-changes", status=1)
        self.assertEqual({record["status"] for record in self.of_program()}, {"failed"})
        for record in self.of_program():
            self.assertIn("it has changed since the run began: ", record["reason"])
        self.assertEqual({record["status"] for record in self.records()}, {"ok", "failed"})

    def test_a_preparation_that_hangs_costs_no_trial(self):
        # The time limit of a trial is longer than a trial takes on a busy machine.
        self.experiment("prepares-hangs", more="timeout: 60\n", options=["--plugin-timeout", 2])
        self.assertEqual([(record["status"], record["reason"]) for record in self.records()], [("ok", None)] * 4)
        self.assertEqual(self.running("serve"), [])

    def test_it_is_not_prepared_for_single_trials(self):
        for isolation in ("trial", "none"):
            with self.subTest(isolation=isolation):
                self.experiment("prepares", more=f"isolate: {isolation}\n")
                self.assertEqual({record["status"] for record in self.records()}, {"ok"})
                self.assertFalse(pathlib.Path(f"{self.program('prepares')}.prepared").exists())
                (self.output / "records.jsonl").unlink()

    def test_an_interrupt_ends_it(self):
        for mode in ("hangs", "open-hangs"):
            for isolation in ("worker", "none"):
                with self.subTest(mode, isolation=isolation):
                    self.check_interrupt(mode, isolation)

    def check_interrupt(self, mode, isolation):
        folder = self.folder / f"{mode}-{isolation}"
        temporary = folder / "tmp"
        temporary.mkdir(parents=True)
        config = CONFIG.replace("PROGRAM", quoted(self.program(mode))).replace("OUTPUT", str(folder / "results"))
        config = self.write(f"{mode}-{isolation}.yaml", config + f"isolate: {isolation}\n")
        process = subprocess.Popen([LLOYD, "run", str(config)], env={**os.environ, "TMPDIR": str(temporary)},
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        while not self.running("serve") and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertTrue(self.running("serve"))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(self.running("serve"), [])
        self.assertEqual(list(temporary.iterdir()), [])

    def test_no_data_is_left_where_the_run_is_killed(self):
        for mode in ["worker", "none"]:
            with self.subTest(mode):
                temporary = self.folder / f"tmp-{mode}"
                temporary.mkdir()
                config = CONFIG.replace("PROGRAM", quoted(self.program("hangs")))
                config = config.replace("OUTPUT", str(self.folder / mode)) + f"isolate: {mode}\n"
                process = subprocess.Popen([LLOYD, "run", str(self.write("c.yaml", config))],
                                           env={**os.environ, "TMPDIR": str(temporary)},
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                self.addCleanup(process.wait)
                self.addCleanup(process.kill)
                self.until(lambda: list(temporary.rglob("centroids.npy")))
                self.assertTrue(list(temporary.rglob("samples.npy")))
                process.kill()
                process.wait()
                self.until(lambda: not list(temporary.iterdir()))
                if mode == "worker":
                    self.until(lambda: not self.running("serve"))
                for pid in self.running("serve"):  # it sleeps, and would otherwise see the end of its input
                    os.kill(int(pid), signal.SIGKILL)

    def until(self, what):
        deadline = time.monotonic() + 60
        while not what() and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertTrue(what())

    def running(self, what):
        """Processes that run or describe the external program from this test's folder."""
        found = []
        for process in process_folders():
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if str(self.folder).encode() in b"".join(words) and what.encode() in words:
                found.append(process.name)
        return found

    def test_programs_of_the_peers_describe_themselves(self):
        for program in sorted((ROOT / "bench" / "peers").glob("*-*.py")) + [
                ROOT / "bench" / "peers" / "opencv.py", ROOT / "bench" / "peers" / "pytorch.py"]:
            with self.subTest(program.name):
                done = subprocess.run([program, "describe"], capture_output=True, text=True,
                                      timeout=120, check=True)
                description = json.loads(done.stdout)
                self.assertEqual(description["name"], program.stem)
                self.assertEqual(description["protocol"], 1)
                self.assertTrue(description.get("unavailable") or description["parameters"] is not None)


if __name__ == "__main__":
    unittest.main()
