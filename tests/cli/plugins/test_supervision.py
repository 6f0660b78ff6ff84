"""Supervision by fit, predict, backends, doctor and verify of a plugin that hangs, crashes, prints, closes descriptors
or leaves processes, in each of its calls.
"""

import contextlib
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from hostile_case import LIMITS, HostileCase, process_with_plugin, processes_with
from program import BAD_PLUGINS, IRIS, LLOYD, SANITIZED, is_gone, process_table, process_tree, run, run_json

ABORTED = r"signal 6 \(Aborted\)"
# Characters that must not be sent to a terminal.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Limits(HostileCase):
    """Calls that are short regardless of the problem's size have a time limit."""

    def test_a_call_that_does_not_return_is_reported(self):
        for call, name in (("supports", "supports()"), ("estimate", "estimate()"), ("query", "query()"),
                           ("notes", "notes()")):
            with self.subTest(call):
                done, limit = self.run_within_limits(f"{call} hang-deaf", *self.FIT)
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (1, "", f"lloyd: the backend 'hostile' did not return from {name} within {limit} "
                                         "s; --plugin-timeout gives it longer\n"))
        self.assert_gone()

    def test_a_release_that_does_not_return_loses_nothing(self):
        output = self.folder / "out"
        for call, name in (("release-session", "release() of its session"), ("release-backend", "release()")):
            with self.subTest(call):
                done, limit = self.run_within_limits(f"{call} hang-deaf", *self.FIT, "--json", "-o", output)
                self.assertEqual(json.loads(done.stdout)["clusters"], 3)
                self.assertEqual(sorted(path.name for path in output.iterdir()),
                                 ["centroids.csv", "labels.csv", "model.json"])
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr,
                                 rf"\nlloyd: the backend 'hostile' did not return from {re.escape(name)} within "
                                 rf"{limit} s; --plugin-timeout gives it longer; the work was done\n$")
        done, _ = self.run_within_limits("release-session hang", "predict", self.model(), IRIS, "--backend", "hostile")
        self.assertEqual((done.returncode, len(done.stdout.split())), (1, 150))
        self.assertIn("; the work was done", done.stderr)

    def test_a_release_that_crashes_loses_nothing(self):
        done = self.run_hostile("release-session crash", *self.FIT, "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["clusters"]), (1, 3))
        self.assertRegex(done.stderr,
                         r"^lloyd: the backend 'hostile' ended the process in release\(\) of its session, whose work "
                         rf"was done: {ABORTED}\n$")

    def test_a_release_that_ends_the_process_is_reported(self):
        for call, name in (("release-session", "release() of its session"), ("release-backend", "release()")):
            with self.subTest(call):
                done = self.run_hostile(f"{call} exit", *self.FIT, "--json")
                self.assertEqual((done.returncode, json.loads(done.stdout)["clusters"]), (1, 3))
                self.assertEqual(done.stderr, f"lloyd: the backend 'hostile' ended the process in {name}, whose work "
                                              "was done: exit(0)\n")
        done = self.run_hostile("release-backend exit", "verify", self.file, "--case", "stop/labels*")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^failed +exit: when the backend was released: the plugin ended the "
                                      r"process: exit\(0\) in release\(\)$")

    @unittest.skipUnless(os.path.exists("/dev/full"), "this machine has no /dev/full")
    def test_a_sentence_survives_a_release_that_does_not_return(self):
        for limit in LIMITS:
            with open("/dev/full", "w") as full:
                done = subprocess.run(self.command(*self.FIT, limit=limit), stdin=subprocess.DEVNULL, stdout=full,
                                      stderr=subprocess.PIPE, env=self.environment("release-session hang"), text=True,
                                      timeout=300)
            if "release" in done.stderr:
                break
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^lloyd: standard output cannot be written.*\nlloyd: the backend 'hostile' did "
                                      r"not return from release\(\) of its session .*; the work was done\n$")


class Requests(HostileCase):
    """One signal ends a command, whatever its plugin does."""

    def check_one_request(self, number, hostile):
        """The exit status and the messages, with the plugin's grace period replaced by GRACE."""
        process, limit = self.start_within_limits(hostile, *self.FIT, stdout=subprocess.DEVNULL,
                                                  stderr=subprocess.PIPE, text=True)
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
        return process.returncode, err.replace(f"within {min(limit, 10)} s", "within GRACE s")

    def test_one_signal_ends_a_plugin_that_hangs(self):
        for number, hostile, name in ((signal.SIGTERM, "fit hang-deaf", "fit()"),
                                      (signal.SIGINT, "open hang-deaf", "open()")):
            with self.subTest(number):
                status, err = self.check_one_request(number, hostile)
                self.assertEqual((status, err),
                                 (-number, f"lloyd: the backend 'hostile' did not return from {name} within GRACE s of "
                                           f"signal {number} ({signal.strsignal(number)})\n"))
                self.assert_gone()

    def test_one_signal_ends_what_rests_outside_of_a_call(self):
        process, limit = self.start_within_limits("fit lock-output", *self.FIT, stdout=subprocess.DEVNULL,
                                                  stderr=subprocess.PIPE, text=True)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, err),
                         (-signal.SIGTERM, f"lloyd: the process of this command did nothing for {2 * min(limit, 10)} s "
                                           "after signal 15 (Terminated)\n"))
        self.assert_gone()

    def test_what_waits_for_a_device_does_not_rest(self):
        process, limit = self.start_within_limits("fit lock-output-and-wait", *self.FIT, stdout=subprocess.DEVNULL,
                                                  stderr=subprocess.PIPE, text=True)
        tasks = pathlib.Path(f"/proc/{process_with_plugin(process.pid, self.file)}/task")
        states = [path.read_text(errors="replace").rpartition(")")[2].split()[0] for path in tasks.glob("*/stat")]
        if "D" not in states:
            self.skipTest("this kernel does not show vfork() as uninterruptible sleep")
        process.send_signal(signal.SIGTERM)
        try:  # the time after which a process that rests is killed, and some more
            process.wait(timeout=2 * min(limit, 10) + 5)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertNotIn("did nothing", err)
        self.assert_gone()

    def start_unread(self, stream, *command):
        """A command that is blocked because no one reads one of its streams."""
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        os.set_blocking(write, False)
        for size in (4096, 1):
            try:
                while True:
                    os.write(write, b"x" * size)
            except BlockingIOError:
                pass
        os.set_blocking(write, True)
        streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: write}
        process = self.start("fit print-much", *command, **streams)
        os.close(write)
        deadline = time.monotonic() + 120
        looks = 0
        while looks < 10:
            self.assertLess(time.monotonic(), deadline, "it waits for nobody")
            self.assertIsNone(process.poll())
            table = process_table()
            rests = all(table.get(pid, (0, "S"))[1] in "SZ" for pid in process_tree(process.pid))
            looks = looks + 1 if rests else 0
            time.sleep(0.05)
        return process

    def test_one_signal_ends_what_waits_for_a_reader(self):
        config = self.write("config.yaml", "dataset: {blobs: {samples: 50}}\nclusters: 2\nbackends: [sequential]\n"
                                           f"repeats: 1\noutput: {self.folder / 'out'}\n")
        for stream, command in (
                ("stderr", ["fit", IRIS, "-k", "3", "-b", "sequential", "--labels", self.folder / "labels.csv"]),
                ("stderr", ["data", "convert", IRIS, self.folder / "iris.npy"]), ("stderr", ["run", config]),
                ("stderr", ["verify", self.file, "--case", "stop/labels*"]),
                ("stdout", ["fit", IRIS, "-k", "3", "-b", "sequential"]), ("stdout", ["run", config]),
                ("stdout", ["verify", BAD_PLUGINS / "good" / "lloyd_good.so", "--case", "stop/labels*"])):
            with self.subTest(f"{command[0]} {stream}"):
                process = self.start_unread(stream, *command)
                process.send_signal(signal.SIGTERM)
                self.assertIn(process.wait(timeout=120), (0, 130))
        self.assert_gone()

    def test_one_signal_ends_what_waits_for_a_terminal(self):
        for command in (self.FIT, ["verify", self.file, "--case", "stop/labels*"]):
            with self.subTest(command[0]):
                terminal, its = pty.openpty()
                self.addCleanup(os.close, terminal)
                process, _ = self.start_within_limits("fit print-much", *command, stdout=its, stderr=its)
                os.close(its)
                process.send_signal(signal.SIGTERM)
                self.assertIn(process.wait(timeout=120), (130, -signal.SIGTERM))
        self.assert_gone()

    def test_the_signals_of_terminals_end_it_too(self):
        for number, hostile in ((signal.SIGHUP, "fit hang"), (signal.SIGQUIT, "fit hang-deaf")):
            with self.subTest(number):
                status, err = self.check_one_request(number, hostile)
                self.assertEqual(status, -number)
                self.assertRegex(err, r"^lloyd: the backend 'hostile' did not return from fit\(\) within GRACE s of "
                                      rf"signal {number} ")
                self.assert_gone()

    def test_sigquit_ends_at_once_what_does_not_block_it(self):
        process = self.start("fit hang", *self.FIT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.wait_for_work(process)
        process.send_signal(signal.SIGQUIT)
        self.assertEqual((process.communicate(timeout=120)[1], process.returncode), ("", -signal.SIGQUIT))
        self.assert_gone()

    def test_an_ignored_signal_stays_ignored(self):
        data = self.folder / "blobs.npy"
        run("data", "blobs", data, "--samples", "2000", "--features", "4")
        model = self.folder / "model.json"
        run("fit", data, "-k", "3", "--model", model)
        config = self.write("config.yaml", "dataset: {blobs: {samples: 5000, features: 4}}\nclusters: 8\n"
                                           "stop: {iterations: 20}\nbackends: [sequential]\nrepeats: 100\n")
        fit = ["fit", data, "-k", "8", "--backend", "sequential", "--iterations"]
        for command in ([*fit, "10000"], ["run", config, "--output", self.folder / "out"],
                        ["verify", BAD_PLUGINS / "good" / "lloyd_good.so", "--case", "stop/*"]):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
                with self.subTest(f"{command[0]} {number}"):
                    process = subprocess.Popen(
                        [LLOYD, *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                        preexec_fn=lambda number=number: signal.signal(number, signal.SIG_IGN))
                    self.addCleanup(process.wait)
                    self.addCleanup(process.kill)
                    while process.poll() is None:
                        process.send_signal(number)
                        time.sleep(0.2)
                    self.assertEqual(process.returncode, 0, process.communicate()[1])
                    process.stderr.close()


class Processes(HostileCase):
    """No process started by a plugin outlives the command."""

    def commands(self):
        fit = [*self.FIT, "--labels", self.folder / "labels.csv"]
        predict = ["predict", self.model(), IRIS, "--backend", "hostile"]
        verify = ["verify", self.file, "--case", "stop/labels*"]
        return {**{f"{call} start-daemon": fit for call in ("load", "probe", "estimate", "open", "fit",
                                                            "release-session")},
                "label start-daemon": predict, "query start-daemon": verify}

    def test_daemons_end_with_the_command(self):
        for hostile, command in self.commands().items():
            with self.subTest(hostile):
                self.run_hostile(hostile, *command)
                self.assert_gone()
        for hostile, command in (("load start-daemon", ["backends"]), ("probe start-daemon", ["doctor", "--quick"]),
                                 ("load start-daemon", ["verify", self.file, "--case", "stop/labels*"]),
                                 ("fit start-daemon", ["verify", self.file, "--case", "stop/labels*"])):
            with self.subTest(f"{command[0]}: {hostile}"):
                self.run_hostile(hostile, *command)
                self.assert_gone()

    def test_a_daemon_that_starts_while_its_command_ends(self):
        # Which of the two comes first is a matter of milliseconds; the repetitions cover both orders.
        for _ in range(40):
            self.run_hostile("load start-daemon", "backends", "hostile")
        self.assert_gone()

    def wait_for_daemon(self, process):
        """Waits for a process with the plugin that has left the command's session."""
        session = os.getsid(process.pid)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            self.assertIsNone(process.poll())
            for pid in processes_with(str(self.file)):
                try:
                    if os.getsid(pid) != session:
                        return
                except ProcessLookupError:
                    pass
            time.sleep(0.02)
        self.fail("there is no daemon")

    def test_daemons_end_with_a_killed_command(self):
        for command in (["fit", IRIS, "-k", "3", "--iterations", "1000000000", "--backend", "hostile"],
                        ["verify", self.file]):
            for call in ("load", "fit"):
                with self.subTest(f"{command[0]} {call}"):
                    process = self.start(f"{call} start-daemon", *command, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
                    self.wait_for_daemon(process)
                    process.kill()
                    process.wait()
                    self.assert_gone()

    def test_a_plugin_that_kills_its_parent_is_reported(self):
        for hostile in ("load kill-parent", "fit kill-parent", "release-session kill-parent"):
            with self.subTest(hostile):
                done = self.run_hostile(hostile, *self.FIT)
                self.assertIn(done.returncode, (1, 2), done.stderr)
                self.assertRegex(done.stderr, r"hostile.* ended (the|its) process.*signal 9 \(Killed\)\n$")
                self.assert_gone()
        done = self.run_hostile("fit kill-parent", "verify", self.file, "--case", "stop/labels*")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the plugin ended the process: signal 9 (Killed)", done.stdout)

    def test_what_has_killed_its_supervisor_ends_with_the_command(self):
        config = self.write("config.yaml", "dataset: {blobs: {samples: 50}}\nclusters: 2\nbackends: [hostile]\n"
                                           f"repeats: 1\noutput: {self.folder / 'out'}\n")
        for hostile, command in (("load escape", ["backends"]), ("fit escape", self.FIT),
                                 ("fit escape", ["run", config]), ("release-session escape", ["run", config]),
                                 ("load escape", ["verify", self.file, "--case", "stop/labels*"]),
                                 ("fit escape", ["verify", self.file, "--case", "stop/labels*"])):
            with self.subTest(f"{command[0]}: {hostile}"):
                self.run_hostile(hostile, *command)
                self.assert_gone()

    @unittest.skipUnless(pathlib.Path(f"/proc/self/task/{os.getpid()}/children").exists(),
                         "this kernel does not list children")
    def test_processes_that_replace_themselves_end_with_the_command(self):
        # These processes are too short-lived to be listed. Evidence is the pipe that they keep open and the last ones
        # write to.
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        read = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, read)
        command = self.command("verify", self.file, "--case", "stop/labels*")
        environment = {**self.environment("release-backend respawn"), "LLOYD_HOSTILE_PIPE": str(pipe)}
        done = subprocess.run(command, env=environment, text=True, capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout)
        ready = select.poll()
        ready.register(read, select.POLLIN)
        self.assertEqual(ready.poll(0), [(read, select.POLLHUP)], "some are left, or none was ended")

    def test_a_plugin_that_stops_its_parent_does_not_stop_the_command(self):
        for hostile in ("fit stop-parent", "release-session stop-parent"):
            with self.subTest(hostile):
                done = self.run_hostile(hostile, *self.FIT, "--json")
                self.assertEqual((done.returncode, json.loads(done.stdout)["clusters"]), (0, 3), done.stderr)
        self.assert_gone()

    def test_what_the_caller_has_started_is_left_alone(self):
        # exec keeps the caller's process number, so the command inherits the caller's child.
        child = self.folder / "child"
        done = subprocess.run(["sh", "-c", f'sleep 300 >/dev/null 2>&1 & echo $! >"{child}"; exec "$@"', "sh",
                               *self.command(*self.FIT)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=300, env=self.environment("fit kill-parent"))
        pid = int(child.read_text())
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep"))

    def enter(self, container, *command):
        return subprocess.run(["nsenter", "--target", str(container), "--user", "--pid", "--preserve-credentials",
                               *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=120, check=False)

    @unittest.skipUnless(shutil.which("nsenter"), "this machine has no nsenter")
    def test_process_1_leaves_alone_what_entered_its_container(self):
        inner = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if subprocess.run([*inner, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("this machine makes no container")
        command = self.command("verify", self.file, "--case", "stop/*", "--timeout", "100000")
        process = subprocess.Popen([*inner, *command], env=self.environment("fit hang"), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        first = self.wait_for_work(process)
        container = next(pid for pid, (parent, _) in process_table().items() if parent == process.pid)
        # When the shell ends, tail becomes a child of process 1.
        mark = str(self.write("entered", ""))
        if self.enter(container, "sh", "-c", 'tail -f "$0" &', mark).returncode != 0:
            self.skipTest("this machine lets nobody enter a container")
        other = processes_with(mark)
        self.assertEqual(len(other), 1)
        os.kill(first, signal.SIGKILL)  # the next case begins when the orphans of this one have been killed
        deadline = time.monotonic() + 120
        while process_with_plugin(process.pid, self.file) in (first, None):
            self.assertLess(time.monotonic(), deadline, "no other case begins")
            time.sleep(0.02)
        self.assertFalse(is_gone(other[0]))


class Copies(HostileCase):
    """A plugin that forks and returns in both processes."""

    def test_results_are_given_once(self):
        predict = ("predict", self.model(), IRIS, "--backend", "hostile")
        for call in ("load", "probe", "supports", "estimate", "open", "fit", "query", "notes", "release-session",
                     "release-backend"):
            with self.subTest(call):
                done = self.run_hostile(f"{call} fork-and-return", *self.FIT, "--json")
                self.assertEqual((done.returncode, json.loads(done.stdout)["clusters"]), (0, 3), done.stderr)
        done = self.run_hostile("label fork-and-return", *predict)
        self.assertEqual((done.returncode, len(done.stdout.split())), (0, 150), done.stderr)
        self.assert_gone()

    def test_trials_are_run_once(self):
        for isolate in ("worker", "none"):
            with self.subTest(isolate):
                output = self.folder / isolate
                config = self.write(f"{isolate}.yaml", "dataset: {blobs: {samples: 50}}\nclusters: 2\n"
                                    f"backends: [hostile]\nrepeats: 3\nisolate: {isolate}\noutput: {output}\n")
                done = self.run_hostile("fit fork-and-return", "run", config)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(len((output / "records.jsonl").read_text().splitlines()), 3)


class Scratch(HostileCase):
    """The folder for temporary files of a run without isolation."""

    def start_run(self, stderr=subprocess.DEVNULL, **more):
        """Starts a run whose plugin hangs. Returns its process, its TMPDIR and the process of the plugin."""
        scratch = self.folder / "scratch"
        scratch.mkdir()
        config = self.write("config.yaml", "dataset: {blobs: {samples: 50}}\nclusters: 2\nbackends: [hostile]\n"
                                           f"repeats: 1\nisolate: none\noutput: {self.folder / 'out'}\n")
        process = subprocess.Popen(self.command("run", config), cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=stderr,
                                   env={**self.environment("fit hang"), "TMPDIR": str(scratch), **more})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        worker = self.wait_for_work(process)
        self.assertIsNotNone(worker)
        self.assertEqual(len(list(scratch.iterdir())), 1)
        return process, scratch, worker

    def test_it_is_removed_before_a_signal_ends_the_command(self):
        process, scratch, _ = self.start_run()
        process.send_signal(signal.SIGQUIT)
        process.wait(timeout=120)
        self.assertEqual((process.returncode, list(scratch.iterdir())), (-signal.SIGQUIT, []))

    def test_what_removes_it_is_no_program_of_the_working_directory(self):
        planted = self.write("rm", f"#!/bin/sh\necho ran >'{self.folder}/ran'\n")
        planted.chmod(0o755)
        process, scratch, _ = self.start_run(PATH="")
        process.kill()
        process.wait(timeout=120)
        self.assert_gone(str(scratch))
        self.assertEqual(list(scratch.iterdir()), [])
        self.assertFalse((self.folder / "ran").exists())

    def test_what_removes_it_outlives_a_killed_supervisor(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, writer)
        process, scratch, worker = self.start_run(stderr=writer)
        # The last message of the command waits for a reader that takes nothing.
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"x" * 4096)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"x")
        os.kill(process_table()[worker][0], signal.SIGKILL)
        self.assert_gone()
        self.wait_until_idle(process.pid)
        self.assertIsNone(process.poll())
        self.assertEqual(len(list(scratch.iterdir())), 1)
        process.kill()
        process.wait(timeout=120)
        self.assert_gone(str(scratch))
        self.assertEqual(list(scratch.iterdir()), [])


class Output(HostileCase):
    """Output of a plugin does not control the terminal."""

    SHOWN = "?]0;out???[2J"

    def check_shown(self, text):
        self.assertIsNone(CONTROLS.search(text), repr(text))
        self.assertIn("?[31merr\n", text)
        self.assertIn("caf\xe9", text)

    def test_what_it_prints_is_printable(self):
        fit = self.FIT
        predict = ["predict", self.model(), IRIS, "--backend", "hostile"]
        for hostile, command in (("load print", fit), ("probe print", fit), ("estimate print", fit),
                                 ("open print", fit), ("fit print", fit), ("release-session print", fit),
                                 ("label print", predict)):
            with self.subTest(hostile):
                done = self.run_hostile(hostile, *command)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.check_shown(done.stderr)
                self.assertIn(self.SHOWN, done.stderr)
                self.assertTrue(done.stderr.endswith("\n"))
        done = self.run_hostile("fit print", "verify", self.file, "--case", "stop/labels*")
        self.check_shown(done.stderr)

    def test_what_its_thread_prints_is_not_among_the_results(self):
        done = self.run_hostile("fit print-on", *self.FIT, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["clusters"], 3)

    def test_what_it_prints_at_a_terminal_is_printable(self):
        # The result is written by another process, which would write between two parts of what the plugin prints.
        result = self.folder / "result.txt"
        pid, terminal = pty.fork()
        if pid == 0:
            os.dup2(os.open(result, os.O_WRONLY | os.O_CREAT, 0o600), sys.stdout.fileno())
            os.environ["LLOYD_HOSTILE"] = "fit print"
            command = self.command(*self.FIT)
            os.execv(command[0], command)
        shown = b""
        try:
            while part := os.read(terminal, 4096):
                shown += part
        except OSError:  # the terminal is closed
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0, shown)
        os.close(terminal)
        text = shown.decode(errors="replace").replace("\r\n", "\n")
        self.check_shown(text)
        self.assertIn("inertia", result.read_text())

    def test_a_flood_is_passed_on_and_not_kept(self):
        done = self.run_hostile("fit print-much", *self.FIT)
        # A fit that takes long reports its progress.
        flood = re.sub(r"^restart .*\n", "", done.stderr, flags=re.MULTILINE)
        self.assertEqual((done.returncode, len(flood)), (0, 64 << 20))
        self.assertIn("inertia", done.stdout)
        # The output is not read.
        process = self.start("fit print-much", *self.FIT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stderr.close()
        self.assertIn("inertia", process.stdout.read())
        process.stdout.close()
        self.assertEqual(process.wait(timeout=120), 0)

    def test_one_signal_ends_it_where_nobody_reads(self):
        process, _ = self.start_within_limits("fit print-much", *self.FIT, stdout=subprocess.DEVNULL,
                                              stderr=subprocess.PIPE)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=120), -signal.SIGTERM)
        process.stderr.close()
        self.assert_gone()

    def test_descriptions_are_one_line_each(self):
        option = ["--plugin-dir", BAD_PLUGINS / "garbled-texts"]
        listing = run(*option, "backends").stdout
        self.assertRegex(listing, r"\ngarbled-texts .*  summary\?of \?\[1mtwo\n")
        details = run(*option, "backends", "garbled-texts").stdout
        for word in ("summary", "algorithm", "reason", "device", "meaning"):
            self.assertRegex(details, rf"(?m)^.*{word}\?of \?\[1mtwo$")
        self.assertIn("summary?of ?[1mtwo", run(*option, "doctor", "--quick").stdout)
        self.assertEqual(run_json(*option, "backends", "garbled-texts")["summary"], "summary\nof \x1b[1mtwo")


class Sentences(HostileCase):
    """Failures are reported in one sentence of the program's own wording."""

    @unittest.skipIf(b"libstdc++.so" not in pathlib.Path(LLOYD).read_bytes(),
                     "with a C++ runtime of its own a plugin has words of its own")
    def test_exceptions_that_leave_a_call(self):
        without = (r"std::terminate\(\) was called without an exception; likely causes are a std::thread that was "
                   r"destroyed before join\(\) or detach\(\), 'throw;' outside of a handler, and pthread_exit\(\) or a "
                   r"cancelled thread within a function that is noexcept")
        for hostile, how in (("estimate throw", "an exception of type int was not caught"),
                             ("fit throw-nothing", "an exception of type std::runtime_error without a message was not "
                                                   "caught"),
                             ("fit exit-thread", without), ("fit lose-thread", without)):
            with self.subTest(hostile):
                done = self.run_hostile(hostile, *self.FIT)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr,
                                 rf"^lloyd: the backend 'hostile' ended the process in {hostile.split()[0]}\(\): {ABORTED}, since "
                                 rf"{how}\n$")
        done = self.run_hostile("probe throw", "backends", "hostile")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, rf"ended its process in probe\(\): {ABORTED}; last words: an exception "
                                      r"of type int was not caught\n$")
        done = self.run_hostile("fit throw", "verify", self.file, "--case", "stop/labels*")
        self.assertIn("an exception of type int was not caught\n", done.stderr)
        self.assertNotIn("terminate called", done.stderr)

    def test_verify_names_the_last_words_of_a_crash(self):
        done = self.run_hostile("fit say-and-crash", "verify", self.file, "--case", "stop/labels*")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, rf"(?m)^failed  stop/labels/float32: the plugin ended the process: {ABORTED} in "
                                      r"fit\(\); last words: tile 7 of 4$")
        self.assertRegex(done.stdout, r"(?m)^failed  stop/labels/float64: same failure as stop/labels/float32$")
        self.assertIn("tile 7 of 4\n", done.stderr)
        done = self.run_hostile("fit report-and-crash", "verify", self.file, "--case", "stop/labels*")
        self.assertRegex(done.stdout, r"(?m)^failed  stop/labels/float32: .*; last words: a sanitizer: kernel\.cpp:9$")

    def test_last_words_are_those_of_the_case(self):
        done = self.run_hostile("load complain;fit say-and-crash", "verify", self.file, "--case", "stop/labels/float32")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^failed  stop/labels/float32: .* in fit\(\); last words: tile 7 of 4$")
        self.assertIn("error: no huge pages\n", done.stderr)

    def test_verify_names_the_last_words_of_a_call_that_hangs(self):
        done = self.run_hostile("fit complain;fit hang", "verify", self.file, "--case", "stop/labels/float32",
                                "--timeout", "5")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^failed  stop/labels/float32: it took longer than 5 s in fit\(\); last "
                                      r"words: error: no huge pages$")

    def test_a_plugin_that_dies_of_a_broken_pipe(self):
        done = self.run_hostile("fit raise-pipe", *self.FIT)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "lloyd: the backend 'hostile' ended the process in fit(): signal 13 (Broken pipe)\n"))

    def test_closed_descriptors(self):
        done = self.run_hostile("load close-all", *self.FIT)
        self.assertEqual((done.returncode, done.stderr),
                         (2, f"lloyd: {self.file} closed the socket of its process while it was loaded\n"))
        for hostile in ("estimate close-all", "open close-all", "fit close-all"):
            with self.subTest(hostile):
                done = self.run_hostile(hostile, *self.FIT, "--json")
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, r"^lloyd: a plugin has closed descriptors that it did not open.*\n$")
        for hostile in ("load close-all", "fit close-all"):
            with self.subTest(f"verify: {hostile}"):
                done = self.run_hostile(hostile, "verify", self.file, "--case", "stop/labels*")
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stdout, r"(?m)^failed +[a-z0-9/]+: the plugin has closed descriptors that it did "
                                              r"not open, and with them the pipe of its process$")

    def test_a_file_that_is_cut_in_a_call_is_named(self):
        data = self.folder / "data.npy"
        for call, command in (("fit", ["fit", data, "-k", "3", "--backend", "hostile"]),
                              ("label", ["predict", self.model(), data, "--backend", "hostile"])):
            with self.subTest(call):
                run("data", "convert", IRIS, data)
                done = subprocess.run(self.command(*command), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                      env={**self.environment(f"{call} cut-input"), "LLOYD_HOSTILE_INPUT": str(data)},
                                      timeout=300)
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (2, "", f"lloyd: {data}: the file was cut, or its disk failed, while it was in use\n"))

    def test_a_file_that_is_cut_in_a_trial_is_named(self):
        data = self.folder / "data.npy"
        for isolation in ("worker", "trial"):
            with self.subTest(isolation):
                run("data", "convert", IRIS, data)
                output = self.folder / isolation
                config = self.write("cut.yaml", f"dataset: {{file: '{data}'}}\nclusters: 3\nbackends: [hostile]\n"
                                                f"repeats: 1\nisolate: {isolation}\noutput: {output}\n")
                subprocess.run(self.command("run", config), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               env={**self.environment("fit cut-input"), "LLOYD_HOSTILE_INPUT": str(data)}, timeout=300)
                record = json.loads((output / "records.jsonl").read_text().splitlines()[0])
                self.assertEqual((record["status"], record["reason"]),
                                 ("failed", f"{data}: the file was cut, or its disk failed, while it was in use"))

    @unittest.skipIf(SANITIZED, "the sanitizer needs more of it itself")
    def test_too_small_a_stack(self):
        done = subprocess.run(["sh", "-c", 'ulimit -s 48; exec "$@"', "sh", LLOYD, "fit", str(IRIS), "-k", "3"],
                              capture_output=True, text=True, timeout=120, env={})
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, "", "lloyd: the stack may have 48 KiB, see 'ulimit -s'; at least 128 are needed\n"))

    @unittest.skipIf(SANITIZED, "the sanitizer reads /proc")
    def test_without_proc(self):
        hidden = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                  'mount -t tmpfs none /proc && exec "$@"', "sh"]
        if subprocess.run([*hidden, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("this machine lets nobody hide /proc")
        for command in (["backends"], ["backends", "sequential"], ["doctor", "--quick"], ["fit", IRIS, "-k", "3"],
                        ["fit", IRIS, "-k", "3", "--backend", "sequential"]):
            with self.subTest(command):
                done = subprocess.run([*hidden, LLOYD, *map(str, command)], capture_output=True, text=True, timeout=120)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, "^lloyd: plugins cannot be found and loaded, because the path of this program "
                                 "is unknown: /proc/self/exe cannot be read: .*\n$")
        done = subprocess.run([*hidden, LLOYD, "new-plugin", "mine", "--dir", self.folder / "mine"],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^lloyd: .*/proc/self/exe cannot be read: .*\n$")
        self.assertFalse((self.folder / "mine").exists())


if __name__ == "__main__":
    unittest.main()
