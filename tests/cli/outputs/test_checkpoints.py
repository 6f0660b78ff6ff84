"""`lloyd fit --checkpoint`: an interrupted fit that is resumed has the files of the uninterrupted one."""

import json
import pathlib
import resource
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from mpi import MPIEXEC, mpirun_command, run_launched
from program import LLOYD, TestCase, run

FILES = ("labels.npy", "centroids.npy", "model.json")
EVERY = ["--checkpoint-every", 1]


class Checkpoints(TestCase):
    def setUp(self):
        super().setUp()
        self.checkpoint = self.folder / "checkpoint"
        self.data = self.folder / "data.npy"
        run("data", "blobs", self.data, "--samples", 3000, "--features", 3, "--centers", 40, "--std", 3, "--seed", 5)

    def fit(self, name, *arguments, status=0, data=None):
        return run("fit", data or self.data, "-o", self.folder / name, "--format", "npy", *arguments, status=status)

    def limited(self, name, limit, *arguments, **more):
        """A fit that the limit of iterations interrupts, with checkpoints."""
        return self.fit(name, "--max-iterations", limit, "--checkpoint", self.checkpoint, *EVERY, *arguments, **more)

    def state(self):
        return json.loads((self.checkpoint / "checkpoint.json").read_text())

    def assert_same_files(self, name, expected, files=FILES):
        for file in files:
            self.assertEqual((self.folder / name / file).read_bytes(), (self.folder / expected / file).read_bytes(), file)

    def assert_removed(self):
        self.assertEqual(list(self.checkpoint.iterdir()), [])

    def check_resumed(self, options, limits, data=None):
        """Compares an uninterrupted fit with one that is interrupted after each of `limits` iterations."""
        whole = json.loads(self.fit("whole", *options, "--json", data=data).stdout)
        self.assertGreater(whole["iterations"], limits[-1])
        for index, limit in enumerate(limits):
            said = self.limited("parts", limit, *options, *(["--resume"] if index else []), data=data).stderr
            iterations = "iteration" if limit == 1 else "iterations"
            self.assertIn(f"the fit reached the limit of {limit} {iterations}; --resume", said)
            self.assertEqual(self.state()["iterations"], limit - 1)
        parts = json.loads(self.limited("parts", 300, *options, "--resume", "--json", data=data).stdout)
        self.assertEqual(parts["resumed_iterations"], limits[-1] - 1)
        for key in ("iterations", "stop_reason", "inertia", "relocations", "counts", "centroids", "sum_form"):
            self.assertEqual(parts[key], whole[key], key)
        self.assert_same_files("parts", "whole")
        self.assert_removed()
        return whole

    def test_a_resumed_fit_has_the_bits_of_the_whole(self):
        for options, limits in ((["-k", 40, "--tolerance", 0], (1, 2, 9)),
                                (["-k", 7, "--backend", "sequential", "--seeding", "random"], (3,)),
                                (["-k", 40, "--param", "algorithm=auto", "--backend", "openmp", "--tolerance", 0], (5, 6)),
                                (["-k", 25, "--standardize", "--tolerance", 1e-3], (2,))):
            with self.subTest(options=options):
                self.check_resumed(options, limits)

    def test_it_stops_where_the_whole_stops(self):
        # Whatever the rule, also if only one iteration is left.
        for options in (["-k", 12, "--tolerance", 0], ["-k", 12, "--tolerance", 1e-3]):
            whole = json.loads(self.fit("whole", *options, "--json").stdout)
            self.assertEqual(whole["stop_reason"], "labels" if options[-1] == 0 else "tolerance")
            self.check_resumed(options, (whole["iterations"] - 2, whole["iterations"] - 1))

    def test_relocations_are_repeated(self):
        rows = [[value] for value in (0, 0, 1, 2, 50, 51, 53, 54, 100, 103, 105, 111)] * 3
        data = self.folder / "line.npy"
        run("data", "convert", self.write("line.csv", "".join(f"{row[0]}\n" for row in rows)), data)
        start = self.write("start.csv", "0\n1000\n2000\n3000\n4000\n")
        whole = self.check_resumed(["-k", 5, "--seeding", start, "--tolerance", 0], (1, 2), data=data)
        self.assertGreater(whole["relocations"], 0)

    def test_sums_that_integers_cannot_hold(self):
        data = self.folder / "wide.npy"
        lines = "".join(f"{x * 10.0 ** (i % 40 - 20)!r},{y!r}\n" for i, (x, y) in
                        enumerate((0.37 + i % 7, 1.1 * (i % 13)) for i in range(400)))
        run("data", "convert", self.write("wide.csv", lines), data, "--dtype", "float64")
        whole = self.check_resumed(["-k", 6, "--tolerance", 0], (2,), data=data)
        self.assertEqual(whole["sum_form"], "compensated")

    def test_data_that_are_read_in_blocks(self):
        run("data", "blobs", self.data, "--samples", 400000, "--features", 8, "--centers", 20, "--std", 3, "--seed", 5)
        options = ["-k", 10, "--seeding", "random"]
        self.fit("whole", *options, "--max-iterations", 8)
        self.limited("parts", 3, *options, "--memory-limit", "40MB")
        self.limited("parts", 5, *options, "--resume")
        self.limited("parts", 8, *options, "--resume", "--memory-limit", "40MB")
        self.assert_same_files("parts", "whole")

    def start_endless(self, *arguments):
        """A fit of endless iterations; returns its process once it has written some checkpoints."""
        process = subprocess.Popen(
            [LLOYD, "fit", str(self.data), "-o", str(self.folder / "parts"), "--format", "npy", "-k", "30", "--iterations",
             str(10**9), "--checkpoint", str(self.checkpoint), *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.addCleanup(process.kill)
        return process

    def wait_for_iteration(self, process, iteration):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and process.poll() is None:
            if (self.checkpoint / "checkpoint.json").exists() and self.state()["iterations"] >= iteration:
                return
            time.sleep(0.005)
        self.fail(f"no checkpoint of iteration {iteration} came: {process.communicate()}")

    def check_continued(self):
        """Finishes an endless fit three iterations after its checkpoint, and compares it with a whole fit."""
        iterations = ["--iterations", self.state()["iterations"] + 3]
        self.fit("parts", "-k", 30, *iterations, "--checkpoint", self.checkpoint, "--resume")
        self.fit("whole", "-k", 30, *iterations)
        self.assert_same_files("parts", "whole")
        self.assert_removed()

    def test_a_signal_leaves_a_checkpoint(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                process = self.start_endless("--checkpoint-every", 5)
                self.wait_for_iteration(process, 4)
                process.send_signal(number)
                _, said = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 130, said)
                self.assertIn("lloyd: the same command with --resume continues the fit\n", said)
                self.check_continued()

    def test_a_killed_fit_leaves_a_complete_checkpoint(self):
        process = self.start_endless("--checkpoint-every", 1)
        for kill in range(8):
            self.wait_for_iteration(process, 10 * kill + 1)
            process.kill()
            process.communicate()
            if kill < 7:
                process = self.start_endless("--checkpoint-every", 1, "--resume")
        for file in self.checkpoint.glob(".lloyd-*.tmp"):
            file.unlink()  # of the killed processes
        self.check_continued()

    def test_the_first_checkpoint_does_not_wait(self):
        process = self.start_endless()  # every 60 s
        self.wait_for_iteration(process, 0)
        process.kill()
        process.communicate()
        self.assertEqual(self.state()["iterations"], 0)
        self.check_continued()

    def test_another_fit_is_refused_with_what_differs(self):
        base = {"-k": 30, "--seed": 1}
        self.limited("parts", 3, *(part for pair in base.items() for part in pair))
        other = self.folder / "other.npy"
        run("data", "blobs", other, "--samples", 3000, "--features", 3, "--centers", 40, "--std", 3, "--seed", 6)
        narrow = self.folder / "narrow.npy"
        run("data", "blobs", narrow, "--samples", 3000, "--features", 2)
        before = self.state()
        for change, data, message in (({"-k": 31}, self.data, "'clusters' is 30 there and 31 here"),
                                      ({"--seed": 2}, self.data, "'seed' is 1 there and 2 here"),
                                      ({"--seeding": "random"}, self.data, "'seeding' is \"k-means++\" there and \"random\" here"),
                                      ({"--tolerance": 0.5}, self.data, "'tolerance' is 0.0001 there and 0.5 here"),
                                      ({"--empty-clusters": "keep"}, self.data, "'empty_clusters' is \"relocate\" there and \"keep\" here"),
                                      ({"--restarts": 2}, self.data, "'restarts' is 1 there and 2 here"),
                                      ({"--max-iterations": 2}, self.data, "has reached iteration 3, but the fit may have only 2 iterations"),
                                      ({}, other, "it belongs to a fit of other samples: their values differ"),
                                      ({}, narrow, "'features' is 3 there and 2 here")):
            with self.subTest(message):
                options = {**base, "--max-iterations": 300, **change}
                said = self.fit("parts", *(part for pair in options.items() for part in pair), "--checkpoint", self.checkpoint,
                                "--resume", data=data, status=2).stderr
                self.assertEqual(said.count("\n"), 2, said)  # the other line names the backend
                self.assertIn(message, said)
                self.assertEqual(self.state(), before)
        self.assertIn("'standardize' is \"no\" there and \"yes\" here",
                      self.limited("parts", 9, "-k", 30, "--seed", 1, "--resume", "--standardize", status=2).stderr)

    def test_damage_is_refused(self):
        options = ["-k", 30]
        self.limited("parts", 3, *options)
        description = self.checkpoint / "checkpoint.json"
        centroids = self.checkpoint / self.state()["centroids"]["file"]
        text, values = description.read_text(), centroids.read_bytes()
        for file, content, message in ((description, text[:-40], "checkpoint.json: the checkpoint is damaged: "),
                                       (description, "{}", "checkpoint.json: it is not a checkpoint"),
                                       (centroids, values[:-1], "checkpoint.json: the checkpoint is damaged: "),
                                       (centroids, values[:-1] + b"\x00", "has changed since it was written"),
                                       (centroids, None, "checkpoint.json: the checkpoint is damaged: ")):
            with self.subTest(message):
                if content is None:
                    file.unlink()
                else:
                    file.write_bytes(content.encode() if isinstance(content, str) else content)
                said = self.limited("parts", 9, *options, "--resume", status=2).stderr
                self.assertIn(message, said)
                self.assertEqual(said.count("\n"), 2, said)
                description.write_text(text)
                centroids.write_bytes(values)
        self.limited("parts", 9, *options, "--resume")

    def test_a_checkpoint_is_not_overwritten_by_another_fit(self):
        self.limited("parts", 3, "-k", 30)
        said = self.limited("parts", 3, "-k", 30, status=2).stderr
        self.assertIn(f"{self.checkpoint} has the checkpoint of an unfinished fit; --resume continues it", said)
        (self.checkpoint / "checkpoint.json").unlink()
        said = self.limited("parts", 300, "-k", 30, "--resume").stderr
        self.assertIn(f"lloyd: {self.checkpoint} has no checkpoint; starting a new fit\n", said)
        self.assert_removed()

    def test_a_full_disk_neither_ends_the_fit_nor_loses_the_checkpoint(self):
        self.limited("parts", 3, "-k", 300)
        before = self.state()

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        command = [LLOYD, "fit", str(self.data), "-k", "300", "--max-iterations", "6", "--checkpoint", str(self.checkpoint), *map(str, EVERY),
                   "--resume", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, preexec_fn=limit, restore_signals=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["iterations"], 6)
        self.assertEqual(done.stderr.count("lloyd: warning: a checkpoint cannot be written; the fit continues without it: "), 1)
        self.assertEqual(self.state(), before)
        self.limited("parts", 6, "-k", 300, "--resume")
        self.fit("whole", "-k", 300, "--max-iterations", 6)
        self.assert_same_files("parts", "whole")

    def test_options_that_make_no_sense_are_refused(self):
        for options, message in ((["--resume"], "--resume needs --checkpoint too"),
                                 (["--checkpoint-every", "5"], "--checkpoint-every needs --checkpoint too"),
                                 (["--checkpoint", self.checkpoint, "-k", "2..4"], "--checkpoint is for one number of clusters, but -k is 2..4"),
                                 (["--checkpoint", self.data], "data.npy"),
                                 *((["--checkpoint", self.checkpoint, "--checkpoint-every", every],
                                    f"'{every}' is neither a number of iterations, such as 10, nor of seconds, such as 60s")
                                   for every in ("0", "0s", "5m", "s", "010", "1.5s"))):
            with self.subTest(message):
                said = run("fit", self.data, *options, status=2).stderr
                self.assertIn(message, said)

    @unittest.skipUnless(MPIEXEC, "this build has no MPI plugin: MPI was not found")
    def test_any_number_of_ranks_resumes_a_fit(self):
        options = ["-k", 40, "--tolerance", 0]
        self.fit("whole", *options)

        def on_ranks(ranks, limit, *arguments):
            command = [LLOYD, "fit", self.data, "-o", self.folder / "parts", "--format", "npy", *options, "--checkpoint",
                       self.checkpoint, *EVERY, "--max-iterations", limit, *arguments]
            status, _, messages = run_launched(mpirun_command(ranks, list(map(str, command))) if ranks else list(map(str, command)))
            return status, messages
        for index, (ranks, limit) in enumerate(((2, 3), (3, 5), (0, 7), (2, 8), (3, 300))):
            status, messages = on_ranks(ranks, limit, *(["--resume"] if index else []))
            self.assertEqual(status, 0, messages)
            if limit < 300:
                self.assertEqual(self.state()["iterations"], limit - 1)
        self.assert_same_files("parts", "whole", ("labels.npy", "centroids.npy"))
        self.assert_removed()
        self.assertEqual(on_ranks(2, 3)[0], 0)
        status, messages = on_ranks(3, 5)
        self.assertEqual((status, len(messages)), (2, 1), messages)
        self.assertIn("has the checkpoint of an unfinished fit", messages[0])
        status, messages = on_ranks(3, 5, "--resume", "--seed", 9)
        self.assertEqual((status, len(messages)), (2, 1), messages)
        self.assertIn("'seed' is 0 there and 9 here", messages[0])

    @unittest.skipUnless(MPIEXEC, "this build has no MPI plugin: MPI was not found")
    def test_ranks_warn_once_of_a_full_disk(self):
        self.limited("parts", 3, "-k", 300)
        before = self.state()
        command = ["bash", "-c", 'ulimit -S -f 4; exec "$0" "$@"', LLOYD, "fit", self.data, "-k", 300, "--max-iterations", 6,
                   "--checkpoint", self.checkpoint, *EVERY, "--resume"]
        status, _, messages = run_launched(mpirun_command(2, list(map(str, command))))
        self.assertEqual(status, 0, messages)
        warning = "lloyd: warning: a checkpoint cannot be written; the fit continues without it: "
        self.assertEqual(sum(message.startswith(warning) for message in messages), 1, messages)
        self.assertEqual(self.state(), before)


if __name__ == "__main__":
    unittest.main()
