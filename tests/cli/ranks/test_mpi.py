"""`lloyd fit` on several MPI processes: the same files as one process, and failures of single ranks."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from mpi import ENVIRONMENT, MPIEXEC, is_hydra, mpirun_command, rank_of, run_launched, used_time
from program import LLOYD, SMALL_EXPERIMENT, TestCase, is_gone, process_tree, run

HOST = socket.gethostname()


def fit_command(data, *arguments):
    return [LLOYD, "fit", str(data), *map(str, arguments)]


@unittest.skipUnless(MPIEXEC, "this build has no MPI plugin: MPI was not found")
class Mpi(TestCase):
    def make_data(self, name="data.npy", samples=1001):
        file = self.folder / name
        run("data", "blobs", file, "--samples", samples, "--features", 3, "--seed", 5)
        return file

    def outputs(self, name):
        return ["--labels", self.folder / f"{name}.labels.npy", "--centroids", self.folder / f"{name}.centroids.npy",
                "--model", self.folder / f"{name}.json"]

    def test_fits_write_the_files_of_one_process(self):
        for data, options in ((self.make_data(), ["--seeding", "k-means||", "--restarts", 2]),
                              (self.make_data("data.fvecs"), ["--columns", "2,0", "--backend", "sequential"])):
            fixed = ["-k", 7, "--seed", 3, "--tolerance", 0, *options]
            alone = json.loads(run("fit", data, *fixed, *self.outputs("alone"), "--json").stdout)
            for ranks in (1, 2, 3):
                with self.subTest(f"{data.name}, {ranks} ranks"):
                    status, output, messages = run_launched(
                        mpirun_command(ranks, fit_command(data, *fixed, *self.outputs("ranks"), "--json")))
                    self.assertEqual(status, 0, messages)
                    found = json.loads(output)
                    self.assertEqual(found["ranks"], ranks)
                    self.assertEqual(len(found["hosts"] or []), ranks if ranks > 1 else 0)
                    self.assertEqual(found["communication_ms"] is None, ranks == 1)
                    for key in ("counts", "centroids", "inertia", "iterations", "clusters"):
                        self.assertEqual(found[key], alone[key], key)
                    self.assertEqual(found["dataset"]["samples"], 1001)
                    for kind in ("labels.npy", "centroids.npy"):
                        self.assertEqual((self.folder / f"ranks.{kind}").read_bytes(),
                                         (self.folder / f"alone.{kind}").read_bytes(), kind)
                    self.assertEqual(json.loads((self.folder / "ranks.json").read_text())["centroids"],
                                     json.loads((self.folder / "alone.json").read_text())["centroids"])

    def test_labels_are_written_as_text_too(self):
        data = self.make_data()
        run("fit", data, "-k", 12, "--labels", self.folder / "alone.csv")
        status, _, messages = run_launched(mpirun_command(3, fit_command(data, "-k", 12, "-o", self.folder / "ranks")))
        self.assertEqual((status, messages), (0, []))
        self.assertEqual((self.folder / "ranks" / "labels.csv").read_bytes(), (self.folder / "alone.csv").read_bytes())

    def test_more_ranks_than_samples(self):
        data = self.write("three.csv", "1,2\n3,4\n10,11\n")
        array = self.folder / "three.npy"
        run("data", "convert", data, array)
        status, output, messages = run_launched(mpirun_command(5, fit_command(array, "-k", 2, "--labels", self.folder / "l.npy")))
        self.assertEqual(status, 0, messages)
        self.assertIn("ranks       5", output)
        self.assertRegex(output, r"communication  [0-9.]+ % of the fit, at most [0-9.]+ ms on a rank; compute imbalance [0-9.]+\n")
        run("fit", array, "-k", 2, "--labels", self.folder / "alone.npy")
        self.assertEqual((self.folder / "l.npy").read_bytes(), (self.folder / "alone.npy").read_bytes())

    def test_what_needs_one_process_is_refused_in_one_sentence(self):
        array = self.make_data()
        text = self.write("text.csv", "1,2\n3,4\n10,11\n")
        for command, message in (
                (fit_command(text), "a text file cannot be used with several processes"), (fit_command("-"), "standard input cannot be used"),
                (fit_command(array, "-k", "2..4"), "a range of k cannot be used"),
                (fit_command(array, "--standardize"), "--standardize cannot be used"),
                (fit_command(self.folder / "none.npy"), "none.npy"), (fit_command(array, "-k", 2000), "2000")):
            with self.subTest(message):
                status, output, messages = run_launched(mpirun_command(2, command))
                self.assertEqual(len(messages), 1, messages)
                self.assertIn(message, messages[0])
                self.assertEqual((status, output), (2, ""))

    def test_rows_beyond_the_memory_limit_are_read_in_blocks(self):
        data = self.folder / "wide.npy"
        run("data", "blobs", data, "--samples", 200001, "--features", 16)
        fixed = ["-k", 5, "--max-iterations", 4, "--backend", "sequential"]
        run("fit", data, *fixed, *self.outputs("alone"))
        done = self.run_with_limit("68MiB", "fit", data, *fixed, *self.outputs("ranks"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "wide.npy is read in blocks of .* samples by all 2 ranks, to stay within 68.0 MiB of memory each")
        for kind in ("labels.npy", "centroids.npy", "json"):
            self.assertEqual((self.folder / f"ranks.{kind}").read_bytes(), (self.folder / f"alone.{kind}").read_bytes(), kind)
        done = self.run_with_limit("68MiB", "predict", self.folder / "alone.json", data, "--backend", "sequential",
                                   "--labels", self.folder / "predicted.npy")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "wide.npy is read in blocks of .* samples by all 2 ranks, to stay within 68.0 MiB of memory each")
        self.assertEqual((self.folder / "predicted.npy").read_bytes(), (self.folder / "alone.labels.npy").read_bytes())
        done = self.run_with_limit("40MiB", "fit", data, *fixed)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, "even when they are read in blocks, .* and [0-9.]+ MiB those of combining the "
                                      "results of several ranks; the limit is 40.0 MiB")

    def run_with_limit(self, limit, *arguments):
        command = [LLOYD, *map(str, arguments), "--memory-limit", limit]
        return subprocess.run(mpirun_command(2, command), capture_output=True, text=True, env=ENVIRONMENT, timeout=300,
                              stdin=subprocess.DEVNULL)

    def test_predict_writes_the_labels_of_one_process(self):
        data = self.make_data()
        model = self.folder / "model.json"
        run("fit", data, "-k", 11, "--standardize", "--model", model)
        for labels in ("labels.npy", "labels.csv"):
            alone = json.loads(run("predict", model, data, "--labels", self.folder / labels, "--json").stdout)
            for ranks in (2, 3):
                with self.subTest(f"{labels}, {ranks} ranks"):
                    file = self.folder / f"{ranks}.{labels}"
                    status, output, messages = run_launched(mpirun_command(
                        ranks, [LLOYD, "predict", model, data, "--labels", file, "--json"]))
                    self.assertEqual((status, messages), (0, []))
                    found = json.loads(output)
                    for key in ("dataset", "clusters", "inertia", "counts"):
                        self.assertEqual(found[key], alone[key], key)
                    self.assertEqual(file.read_bytes(), (self.folder / labels).read_bytes())

    def test_what_predict_cannot_do_on_ranks_is_refused(self):
        data = self.make_data()
        model = self.folder / "model.json"
        run("fit", data, "--model", model)
        text = self.write("text.csv", "1,2,3\n4,5,6\n")
        pair = self.write("pair.csv", "1,2\n3,4\n")
        run("data", "convert", pair, self.folder / "pair.npy")
        for arguments, message in (
                ([data], "labels on standard output cannot be used with several processes"),
                ([data, "--distances", self.folder / "d.npy"], "--distances cannot be used with several processes"),
                ([text, "--json"], "a text file cannot be used with several processes"),
                ([self.folder / "pair.npy", "--json"], "has 2 features, but the model")):
            with self.subTest(message):
                status, output, messages = run_launched(mpirun_command(2, [LLOYD, "predict", model, *map(str, arguments)]))
                self.assertEqual((status, len(messages), output), (2, 1, ""), messages)
                self.assertIn(message, messages[0])

    def test_the_first_rank_describes_a_file(self):
        for file in (self.make_data(), self.write("text.csv", "1,2\n3,4\n5,7\n")):
            status, output, messages = run_launched(mpirun_command(3, [LLOYD, "data", "info", file]))
            self.assertEqual((status, messages), (0, []))
            self.assertEqual(output, run("data", "info", file).stdout)
        status, output, messages = run_launched(mpirun_command(3, [LLOYD, "data", "info", self.folder / "none.npy"]))
        self.assertEqual((status, len(messages), output), (2, 1, ""), messages)
        self.assertRegex(messages[0], r"^lloyd: .*none\.npy")

    def test_a_wrong_command_line_is_reported_once(self):
        data = self.make_data()
        for command, message in (
                (fit_command(data, "--nonsense"), "--nonsense"), ([LLOYD, "fit"], "DATA is missing"),
                (fit_command(data, "--columns", ""), "--columns needs a value"),
                ([LLOYD, "predict", data, data, "--comm-timeout", "x"], "--comm-timeout"),
                ([LLOYD, "data", "info", data, "--json=1"], "--json"),
                (fit_command(self.folder / "none.npy"), "none.npy")):
            with self.subTest(message):
                status, output, messages = run_launched(mpirun_command(3, command))
                self.assertEqual((status, len(messages), output), (2, 1, ""), messages)
                self.assertIn(message, messages[0])
                self.assertNotIn("rank", messages[0])
        status, _, messages = run_launched(
            [MPIEXEC, "-n", "1", *fit_command(data), ":", "-n", "1", *fit_command(data, "--nonsense")])
        self.assertEqual((status, len(messages)), (2, 1), messages)
        self.assertRegex(messages[0], rf"^lloyd: rank 1 on {re.escape(HOST)}: .*--nonsense")
        alone = run("fit", status=2, env={"OMPI_COMM_WORLD_SIZE": "4"})  # the other three do not join
        self.assertIn("DATA is missing", alone.stderr)
        second = {"OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_RANK": "1", "PMI_SIZE": "3", "PMI_RANK": "1"}
        for command in (("data", "info", data, "--json=1"), ("run", "--nonsense")):
            silent = run(*command, status=0, env=second)  # its failure could end the first rank before it reports
            self.assertEqual(silent.stdout + silent.stderr, "")

    def test_an_experiment_is_refused_once(self):
        config = self.write("small.yaml", SMALL_EXPERIMENT)
        for arguments in ((), ("--resume",), ("--dry-run",)):
            with self.subTest(arguments):
                status, output, messages = run_launched(mpirun_command(
                    3, [LLOYD, "run", config, "--output", self.folder / "out", *arguments]))
                self.assertEqual((status, len(messages), output), (2, 1, ""), messages)
                self.assertRegex(messages[0], r"^lloyd: a launcher started 3 processes \(\w+\), but 'lloyd run' must "
                                              r"be started as one process.* 'ranks' .* 'launcher'")
                self.assertFalse((self.folder / "out").exists())
        run("run", config, "--output", self.folder / "out")

    def test_ranks_that_see_other_files_are_named(self):
        data = self.make_data()
        other = self.make_data("other.npy", 999)
        changed = self.folder / "changed.npy"
        changed.write_bytes(data.read_bytes()[:-4] + b"\x00\x00\x00\x41")
        for last, message in ((other, f"data.npy has 1001 samples on rank 0, but 999 on rank 1 on {HOST}"),
                              (changed, f"data.npy has other values on rank 1 on {HOST} than on rank 0"),
                              (self.folder / "none.npy", f"rank 1 on {HOST}: ")):
            with self.subTest(message):
                status, _, messages = run_launched([MPIEXEC, "-n", "1", *fit_command(data), ":", "-n", "1", *fit_command(last)])
                self.assertEqual((status, len(messages)), (2, 1), messages)
                self.assertIn(message, messages[0])

    def test_a_bad_row_of_any_rank_is_reported_once(self):
        array = self.folder / "bad.npy"
        values = bytearray(self.make_data().read_bytes())
        values[-12 * 501:-12 * 501 + 4] = b"\x00\x00\xc0\x7f"  # row 500, of 3 float32 values
        array.write_bytes(values)
        for attempt in range(5):
            status, output, messages = run_launched(mpirun_command(5, fit_command(array, "-k", 2)))
            self.assertEqual((status, len(messages), output), (2, 1, ""), messages)
            self.assertIn(f"rank 2 on {HOST}: ", messages[0])
            self.assertIn("row 500, column 0", messages[0])

    def test_labels_that_cannot_be_written_do_not_lose_the_rest(self):
        checkpoint = self.folder / "checkpoint"
        command = fit_command(self.make_data(), "-k", 3, *self.outputs("result"), "--checkpoint", checkpoint)
        limited = ["bash", "-c", 'ulimit -f 1; exec "$0" "$@"', *command]
        status, output, messages = run_launched([MPIEXEC, "-n", "1", *command, ":", "-n", "1", *limited])
        self.assertEqual(status, 1, messages)
        self.assertIn("inertia", output)
        self.assertRegex(messages[-1], rf"^lloyd: rank 1 on {re.escape(HOST)}: .*result.labels.npy cannot be written: ")
        self.assertFalse((self.folder / "result.labels.npy").exists())
        self.assertTrue((self.folder / "result.centroids.npy").exists())
        self.assertTrue((self.folder / "result.json").exists())
        status, _, messages = run_launched(mpirun_command(2, [*command, "--resume"]))
        self.assertEqual((status, messages), (0, []))  # a message would say that there is no checkpoint
        self.assertTrue((self.folder / "result.labels.npy").exists())
        self.assertEqual(list(checkpoint.iterdir()), [])

    def test_space_for_labels_is_checked_before_the_fit(self):
        command = fit_command(self.make_data(), "-k", 3, "--labels", self.folder / "l.npy")
        status, output, messages = run_launched(
            mpirun_command(2, ["bash", "-c", 'ulimit -f 1; exec "$0" "$@"', *command]))
        self.assertEqual((status, len(messages), output), (2, 1, ""), messages)
        self.assertIn("l.npy", messages[0])

    def test_more_clusters_than_samples_are_refused_as_by_one_process(self):
        array = self.folder / "few.npy"
        run("data", "convert", self.write("few.csv", "1,2\n3,5\n4,4\n"), array)
        status, _, messages = run_launched(mpirun_command(2, fit_command(array, "-k", 8)))
        self.assertEqual((status, messages), (2, [run("fit", array, "-k", 8, status=2).stderr.strip()]))
        self.assertEqual(messages, ["lloyd: -k is 8; it must be 1 to 3, the number of samples in few.npy"])

    def test_options_that_differ_are_named(self):
        data = self.make_data()
        for first, second, name in ((["--labels", self.folder / "l.npy"], [], "--labels"), (["-k", 3], ["-k", 4], "clusters")):
            with self.subTest(name):
                status, _, messages = run_launched(
                    [MPIEXEC, "-n", "1", *fit_command(data, *first), ":", "-n", "1", *fit_command(data, *second)])
                self.assertEqual((status, len(messages)), (2, 1), messages)
                self.assertIn(f"the ranks were given different values of {name}", messages[0])

    def test_warnings_are_those_of_one_process(self):
        array = self.folder / "same.npy"
        run("data", "convert", self.write("same.csv", "1,2\n" * 20), array)
        status, output, messages = run_launched(
            mpirun_command(2, fit_command(array, "-k", 5, "--empty-clusters", "keep", "--json")))
        self.assertEqual(status, 0, messages)
        self.assertIn("4 of the 5 clusters are empty", json.loads(output)["warnings"])

    def test_predict_warns_of_rounded_integers_as_one_process_does(self):
        file = self.folder / "i.npy"
        header = "{'descr': '<i8', 'fortran_order': False, 'shape': (7, 1), }".ljust(117) + "\n"
        values = [2**60 + value for value in (1, 301, 701, 1201, 99, 3000, 517)]
        file.write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<7q", *values))
        for scaling in ([], ["--standardize"]):
            model = self.folder / "m.json"
            run("fit", file, "-k", "2", *scaling, "--model", model)
            alone = run("predict", model, file, "--labels", self.folder / "alone.npy").stderr
            self.assertEqual(alone.count("rounding to float64 changes the values of column 0"), 1, alone)
            for ranks in (2, 8):
                with self.subTest(f"{scaling}, {ranks} ranks"):
                    status, _, messages = run_launched(mpirun_command(
                        ranks, [LLOYD, "predict", model, file, "--labels", self.folder / "ranks.npy"]))
                    self.assertEqual(status, 0, messages)
                    self.assertEqual(messages, [line for line in alone.splitlines() if line.startswith("lloyd: ")])

    def test_the_launcher_of_another_library_is_refused(self):
        data = self.make_data()
        done = subprocess.run(fit_command(data), capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
                              env={**ENVIRONMENT, "SLURM_STEP_NUM_TASKS": "3"})
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("the launcher started 3 processes (SLURM_STEP_NUM_TASKS), but 1 joined", done.stderr)

    def start_long_fit(self, *arguments, ranks=3):
        """Starts an endless fit; returns the mpirun process, its descendants, and the working process of each
        rank, once all have finished an iteration."""
        data = self.make_data("long.npy", 200000)
        checkpoint = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        command = fit_command(data, "-k", 50, "--iterations", 10**9, "--checkpoint", checkpoint, "--checkpoint-every", 1, *arguments)
        process = subprocess.Popen(mpirun_command(ranks, command), env=ENVIRONMENT, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 120
        while True:
            self.assertLess(time.monotonic(), deadline, "the ranks do not start")
            tree = process_tree(process.pid)[1:]
            started = [pid for pid in tree if rank_of(pid).isdigit()]
            workers = [pid for pid in started if len(self.threads(pid)) > 1 and used_time(pid) > 0.3]
            if len(workers) >= ranks and self.iterations(checkpoint) >= 1:  # rank 0 has finished one more
                return process, tree, {int(rank_of(pid)): pid for pid in workers}
            time.sleep(0.1)

    @staticmethod
    def iterations(checkpoint):
        file = checkpoint / "checkpoint.json"
        return json.loads(file.read_text())["iterations"] if file.exists() else 0

    @staticmethod
    def threads(pid):
        try:
            return os.listdir(f"/proc/{pid}/task")
        except OSError:
            return []

    def wait_for_end(self, process, tree):
        _, errors = process.communicate(timeout=120)
        deadline = time.monotonic() + 30
        while not all(is_gone(pid) for pid in tree):
            self.assertLess(time.monotonic(), deadline, "processes are left")
            time.sleep(0.1)
        return [line for line in errors.splitlines() if line.startswith("lloyd: ")]

    def test_a_rank_that_hangs_ends_all(self):
        for ranks, stopped in ((3, 0), (4, 2)):
            with self.subTest(f"rank {stopped}"):
                process, tree, workers = self.start_long_fit("--comm-timeout", "1", ranks=ranks)
                os.kill(workers[stopped], signal.SIGSTOP)
                messages = self.wait_for_end(process, tree)
                self.assertNotEqual(process.returncode, 0)
                self.assertEqual(len(messages), 1, messages)
                self.assertRegex(messages[0],
                                 rf"rank {stopped} on {re.escape(HOST)} did not take part in .* for 1 s, "
                                 r"after iteration \d+ of restart 1$")
                self.assertNotIn("openmp", messages[0])

    def test_a_rank_that_does_not_join_ends_all(self):
        command = [LLOYD, "--plugin-timeout", "1", *fit_command(self.make_data())[1:]]
        status, _, messages = run_launched([MPIEXEC, "-n", "1", *command, ":", "-n", "1", "sleep", "1000"])
        self.assertNotEqual(status, 0)
        self.assertEqual(len(messages), 1, messages)
        self.assertRegex(messages[0], rf"^lloyd: rank 0 on {re.escape(HOST)}, at the start: .+ did not load within 1 s; --plugin-timeout ")

    def test_a_rank_that_is_killed_ends_all(self):
        process, tree, workers = self.start_long_fit()
        os.kill(workers[2], signal.SIGKILL)
        messages = self.wait_for_end(process, tree)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(len(messages), 1, messages)
        self.assertRegex(messages[0], rf"^lloyd: rank 2 on {re.escape(HOST)}, after iteration \d+ of restart 1: .*signal 9 \(Killed\)$")

    def test_an_interrupt_keeps_the_centroids(self):
        model = self.folder / "model.json"
        process, tree, _ = self.start_long_fit("--model", model)
        process.send_signal(signal.SIGINT)
        self.wait_for_end(process, tree)
        if not is_hydra():  # after an interrupt, Hydra returns 0 at times
            self.assertNotEqual(process.returncode, 0)
        if model.exists():  # unless mpirun has killed the ranks first
            self.assertEqual(json.loads(model.read_text())["clusters"], 50)


class WithoutThePlugin(TestCase):
    def test_several_processes_are_refused(self):
        program = self.folder / "lloyd"
        shutil.copy(LLOYD, program)
        shutil.copy(pathlib.Path(LLOYD).parent / "lloyd_sequential.so", self.folder)
        data = self.write("a.csv", "1,2\n3,4\n5,6\n")
        for variable, processes, status in (
                ("OMPI_COMM_WORLD_SIZE", "4", 2), ("PMI_SIZE", "2", 2), ("SLURM_STEP_NUM_TASKS", "4", 2), ("PMI_SIZE", "1", 0)):
            with self.subTest(f"{variable}={processes}"):
                done = subprocess.run([program, "fit", data, "-k", "2"], capture_output=True, text=True, timeout=300,
                                      stdin=subprocess.DEVNULL, env={**os.environ, variable: processes})
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertEqual(f"a launcher started {processes} processes ({variable})" in done.stderr, status == 2)

    def test_an_experiment_is_refused_without_the_plugin_too(self):
        config = self.write("small.yaml", SMALL_EXPERIMENT)
        program = self.folder / "lloyd"
        shutil.copy(LLOYD, program)
        for rank, status in (("0", 2), ("1", 0)):
            done = subprocess.run([program, "run", config, "--output", self.folder / "out"], capture_output=True,
                                  text=True, timeout=300, stdin=subprocess.DEVNULL,
                                  env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": rank})
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual("a launcher started 2 processes (OMPI_COMM_WORLD_SIZE), but 'lloyd run'" in done.stderr,
                             rank == "0")
            self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main()
