"""Trials in separate processes: a backend that misbehaves there loses only its own records."""

import json
import os
import pathlib
import signal
import sys
import time
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import BAD_PLUGINS, SANITIZED, run, run_json
from worker_case import WorkerCase, processes_of, worker_with, workers_of

CONFIG = """
experiment: workers
dataset: {blobs: {samples: 3000, features: 4, centers: 6, seed: 3}}
clusters: 6
stop: {iterations: 5}
backends: [sequential: {layout: [soa, aos]}, openmp: {threads: [1, 2]}, good]
repeats: 3
"""
SHORT = """
experiment: short
dataset: {blobs: {samples: 30, features: 2, centers: 3, seed: 3}}
clusters: 3
stop: {iterations: 2}
backends: [PLUGINS]
repeats: 3
"""
CRASH = "signal 6 (Aborted)" if SANITIZED else "signal 11 (Segmentation fault)"
ENDED = "the plugin ended its process in fit(): "
# Plugin, further keys of the experiment, status and beginning of the reason of all its records.
BAD = [
    ("fit-crashes", "", "failed", ENDED + CRASH),
    ("fit-exits-3", "", "failed", ENDED + "exit(3)"),
    ("fit-exits", "", "failed", ENDED + "exit(0)"),
    ("fit-hangs", "timeout: 1.5", "timed out", "it took longer than 1.5 s in fit()"),
    ("starts-process", "timeout: 1.5", "timed out",
     "it took longer than 1.5 s in fit(); last words: another process is ?[1mstarted"),
    ("blocks-signals", "timeout: 1.5", "timed out", "it took longer than 1.5 s in fit()"),
    ("ignores-signals", "timeout: 1.5", "timed out", "it took longer than 1.5 s in fit()"),
    ("starts-daemon", "timeout: 1.5", "timed out", "it took longer than 1.5 s in fit()"),
    ("prints-much", "", "ok", None),
    ("wrong-labels", "", "failed", "wrong-labels: it reports an inertia of "),
    ("garbles-descriptors", "", "failed",
     'the plugin\'s process sent an unexpected answer: {"answer": ?[31m'),
    ("mutates", "", "failed", ENDED + CRASH + "; last words: the plugin wrote to the samples, which it may only read"),
]
# With this seed, the last of six backends also comes last in the first round.
LAST_IS_LAST = "\norder_seed: 27"
TIMES = {"open_ms", "loop_ms", "closing_ms", "fit_ms", "phase_ms", "start_ms", "seeding", "time",
         "run", "machine", "process", "conditions", "order", "counters", "energy_j"}


class Workers(WorkerCase):
    config = CONFIG

    def good_records(self):
        records = [record for record in self.records()
                   if record["backend"]["name"] in ("sequential", "openmp", "good")]
        records.sort(key=lambda record: (record["plan"]["variant"], record["repeat"]))
        return [{key: value for key, value in record.items() if key not in TIMES | {"plan"}}
                for record in records]

    def check_bad(self, name, keys, status, reason):
        process = self.start([name], keys)
        out, err = self.run_to_end(process)
        self.assertEqual(process.returncode, 0 if status == "ok" else 1, err)
        self.assertNotIn("{{{", out)
        if status != "ok":
            self.assertIn(f"  {status}: {reason.split()[0]}", out)
        mine = [record for record in self.records() if record["backend"]["name"] == name]
        self.assertEqual([record["status"] for record in mine], [status] * 3)
        for record in mine:
            if reason is None:
                self.assertIsNone(record["reason"])
                self.assertEqual(record["inertia"], self.good[-1]["inertia"])
            else:
                self.assertTrue(record["reason"].startswith(reason), record["reason"])
        self.assertLess(len(json.dumps(mine)), 20000)
        limits = ("timeout", "memory_limit")  # these differ between experiments
        good = [{**record, **dict.fromkeys(limits)} for record in self.good_records()]
        self.assertEqual(good, self.good)

    def prepare_good(self):
        process = self.start()
        self.run_to_end(process)
        self.assertEqual(process.returncode, 0)
        self.good = self.good_records()
        self.assertEqual([record["status"] for record in self.good], ["ok"] * 15)
        (self.output / "records.jsonl").unlink()

    def test_a_bad_backend_costs_its_own_records_only(self):
        self.prepare_good()
        for name, keys, status, reason in BAD:
            with self.subTest(name):
                self.check_bad(name, keys, status, reason)
                (self.output / "records.jsonl").unlink()

    def test_short_timeouts_are_honoured(self):
        # Each trial has a fit of at least a tenth of a second.
        for timeout in ["0.1", "0.05", "1e-9"]:
            for mode in ["worker", "trial"]:
                process = self.start(keys=f"timeout: {timeout}\nisolate: {mode}", config=SHORT,
                                     plugins=["sleeps"])
                _, err = self.run_to_end(process)
                self.assertEqual(process.returncode, 1, err)
                self.assertEqual([record["status"] for record in self.records()], ["timed out"] * 3)
                for record in self.records():
                    self.assertRegex(record["reason"], rf"^it took longer than {timeout.replace('e-9', 'e-09')} s"
                                                       r"( while it was loaded| in .+\(\).*)?$")
                (self.output / "records.jsonl").unlink()

    def test_few_descriptors_are_enough(self):
        data = self.folder / "data.npy"
        run("data", "blobs", data, "--samples", "300", "--features", "4")
        config = CONFIG.replace("{blobs: {samples: 3000, features: 4, centers: 6, seed: 3}}",
                                f"{{file: '{data}'}}")
        config += "sweep: {seeding.seed: [1, 2, 3, 4, 5, 6, 7, 8, 9]}\n"
        for limit in [200, 64, 32]:
            process = self.start(config=config, keys="isolate: worker", descriptors=limit)
            _, err = self.run_to_end(process)
            self.assertEqual(process.returncode, 0, err)
            self.assertEqual({record["status"] for record in self.records()}, {"ok"})
            (self.output / "records.jsonl").unlink()

    def test_too_few_descriptors_are_not_blamed_on_a_plugin(self):
        seen = set()
        for limit in range(4, 24):
            process = self.start(config=SHORT, plugins=["good"], descriptors=limit)
            _, err = self.run_to_end(process)
            ran = (self.output / "records.jsonl").exists()
            reasons = {record["reason"] for record in self.records()} if ran else {err}
            if not ran:
                self.assertEqual(process.returncode, 1, err)
                self.assertNotIn("config.yaml:", err)
            (self.output / "records.jsonl").unlink(missing_ok=True)
            for reason in reasons - {None}:
                seen.add(reason)
                self.assertIn("Too many open files", reason)
                self.assertNotIn("ended its process", reason)
        self.assertTrue(seen)

    def test_memory_without_end_is_ended_at_the_limit(self):
        self.prepare_good()
        limit = "2GiB" if SANITIZED else "300MiB"
        shown = "2.0 GiB" if SANITIZED else "300.0 MiB"
        self.check_bad("eats-memory", f"memory_limit: {limit}", "failed", "it used ")
        for record in self.records():
            if record["backend"]["name"] == "eats-memory":
                self.assertIn(f" of memory, 'memory_limit' is {shown}", record["reason"])

    def test_records_agree_whatever_the_isolation(self):
        data = self.folder / "data.npy"
        run("data", "blobs", data, "--samples", "3000", "--features", "4", "--dtype", "float64")
        configs = [CONFIG, CONFIG.replace("iterations: 5", "max_iterations: 50")
                   .replace("{blobs: {samples: 3000, features: 4, centers: 6, seed: 3}}",
                            f"{{file: '{data}'}}") + "restarts: 3\nprofile: true\n"
                   "sweep: {clusters: [1, 6], seeding.method: [random, k-means++]}"]
        for config in configs:
            found = {}
            for mode in ["none", "worker", "trial"]:
                process = self.start(["wrong-counts"], f"isolate: {mode}", config)
                self.run_to_end(process)
                self.assertEqual(process.returncode, 1)
                found[mode] = self.records()
                (self.output / "records.jsonl").unlink()
            self.assertTrue(all(record["start_ms"] is None for record in found["none"]))
            for mode in ["worker", "trial"]:
                for record in (record for record in found[mode] if record["status"] == "ok"):
                    self.assertGreater(record["start_ms"], 0)
                    self.assertEqual(record["isolate"], mode)
            without_times = [[{key: value for key, value in record.items()
                               if key not in TIMES | {"isolate", "memory_bytes"}} for record in found[mode]]
                             for mode in found]
            self.assertEqual(without_times[0], without_times[1])
            self.assertEqual(without_times[0], without_times[2])
            # One process serves all trials of a variant, or each trial has its own.
            good = [record["status"] for record in found["trial"]].count("ok")
            for mode, starts in [("worker", 5), ("trial", good)]:
                times = {record["start_ms"] for record in found[mode] if record["status"] == "ok"}
                self.assertEqual(len(times), starts)

    @staticmethod
    def two_alike(allowed):
        """True if trials alternate between exactly these processors: with several kinds of cores, the fastest kind is
        used.
        """
        return len(allowed) == 2 and not run_json("doctor", "--quick")["cpu"]["kinds"]

    def test_trials_of_a_round_begin_on_the_same_processor(self):
        allowed = sorted(os.sched_getaffinity(0))
        for mode in ["worker", "trial"]:
            for keys in ["", f"cpus: {allowed[-1]}"]:
                process = self.start(keys=f"isolate: {mode}\n{keys}")
                self.run_to_end(process)
                began = {}
                alone = [record for record in self.records()
                         if "threads=2" not in record["backend"]["label"]]
                self.assertEqual(len({record["plan"]["variant"] for record in alone}), 4)
                for record in alone:
                    began.setdefault(record["repeat"], set()).add(record["process"]["processor"])
                (self.output / "records.jsonl").unlink()
                self.assertEqual([len(processors) for processors in began.values()], [1, 1, 1])
                used = set.union(*began.values())
                if keys:
                    self.assertEqual(used, {allowed[-1]})
                elif self.two_alike(allowed):
                    self.assertEqual(used, set(allowed))

    def test_processes_are_not_bound_with_the_runner(self):
        # An OpenMP runtime binds the thread that loads it, and the runner loads every plugin to check parameters.
        allowed = sorted(os.sched_getaffinity(0))
        patch = unittest.mock.patch.dict(os.environ, OMP_PROC_BIND="true", OMP_PLACES="cores")
        patch.start()
        self.addCleanup(patch.stop)
        if not (BAD_PLUGINS / "brings-openmp").exists():
            self.skipTest("the compiler has no OpenMP")
        process = self.start(["brings-openmp"], "isolate: worker")
        self.run_to_end(process)
        used = set()
        for record in self.records():
            self.assertEqual(record["machine"]["cores"], len(allowed))
            if record["backend"]["name"] == "sequential":
                used.add(record["process"]["processor"])
        self.assertGreater(len(used), 0)
        if self.two_alike(allowed):
            self.assertEqual(used, set(allowed))

    def test_a_trial_is_over_when_its_threads_are(self):
        for mode in ["none", "worker", "trial"]:
            begin = time.monotonic()
            process = self.start(["spins-on"], f"isolate: {mode}")
            self.run_to_end(process)
            self.assertEqual(process.returncode, 0)
            self.assertGreater(time.monotonic() - begin, 3 * 0.2)
            (self.output / "records.jsonl").unlink()

    def hanging(self, process, name="fit-hangs"):
        """The worker that has loaded the plugin of a run, or None."""
        pid = worker_with(process.pid, name)
        if pid is None:
            self.assertIsNone(process.poll())
        return pid

    def start_hanging(self, name="fit-hangs", keys=LAST_IS_LAST, config=None, others=5):
        """A run whose last backend hangs, and the process in which it hangs."""
        process = self.start([name], keys, config)
        pid = self.wait_for(lambda: self.hanging(process, name))
        self.wait_for(lambda: len(self.records()) == others)
        self.wait_until_idle(process.pid, pid)
        return process, pid

    def test_kill_leaves_no_process(self):
        for name in ["fit-hangs", "starts-process", "blocks-signals", "ignores-signals",
                     "starts-daemon"]:
            with self.subTest(name):
                process, _ = self.start_hanging(name)
                # Six workers, and the process that the plugin may have started.
                self.assertEqual(len(workers_of(process.pid)), 6 + name.startswith("starts-"))
                process.kill()
                process.communicate()
                self.wait_for(lambda: not processes_of(process.pid))
                self.assertEqual([record["status"] for record in self.records()], ["ok"] * 5)
                (self.output / "records.jsonl").unlink()

    def test_interrupt_ends_a_fit_that_does_not_listen(self):
        process, _ = self.start_hanging()
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, err)
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual([record["status"] for record in self.records()], ["ok"] * 5 + ["cancelled"])
        self.assertIn("sequential", out)

    def test_a_signal_to_a_worker_alone_costs_its_trial(self):
        process, pid = self.start_hanging()
        signals = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
        for count, number in enumerate(signals, 1):
            os.kill(pid, number)

            def failures():
                return sum(record["status"] != "ok" for record in self.records())
            self.wait_for(lambda: failures() == count or process.poll() is not None)
            self.assertEqual(failures(), count)
            if count < len(signals):
                pid = self.wait_for(lambda: self.hanging(process))
                self.wait_until_idle(process.pid, pid)
        out, err = self.run_to_end(process)
        self.assertEqual(process.returncode, 1, err)
        statuses = [record["status"] for record in self.records()]
        self.assertEqual((statuses.count("ok"), statuses.count("failed")), (15, 3), statuses)
        reasons = [record["reason"] for record in self.records() if record["reason"]]
        self.assertEqual(reasons, [ENDED + text for text in (
            "signal 15 (Terminated)", "signal 2 (Interrupt)", "signal 1 (Hangup)")])

    def test_workers_that_are_stopped_are_ended_side_by_side(self):
        patch = unittest.mock.patch.dict(os.environ, OMP_WAIT_POLICY="passive")
        patch.start()
        self.addCleanup(patch.stop)
        many = CONFIG.replace("[1, 2]", str(list(range(1, 15))))
        process, _ = self.start_hanging(keys="\norder_seed: 33", config=many, others=17)
        stopped = processes_of(process.pid)
        self.assertEqual(len(workers_of(process.pid)), 18)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130)
        # The limits overlap: 5 seconds for the running trial, 2 for each other worker. One after another they would
        # take 39.
        self.assertLess(time.monotonic() - begin, 30)

    def test_a_worker_runs_as_it_is_told(self):
        cpu = max(os.sched_getaffinity(0))
        data = self.folder / "data.npy"
        run("data", "blobs", data, "--samples", "300", "--features", "4")
        config = CONFIG.replace("{blobs: {samples: 3000, features: 4, centers: 6, seed: 3}}",
                                f"{{file: '{data}'}}")
        process = self.start(["fit-hangs"], f"cpus: {cpu}{LAST_IS_LAST}", config)
        self.wait_for(lambda: len(workers_of(process.pid)) == 6)
        self.wait_for(lambda: len(self.records()) == 5)
        self.wait_until_idle(process.pid, *processes_of(process.pid))
        for pid in workers_of(process.pid):
            folder = pathlib.Path(f"/proc/{pid}")
            self.assertEqual(os.sched_getaffinity(pid), {cpu})
            self.assertIn(str(data), (folder / "maps").read_text())  # mapped, not copied
            self.assertNotEqual(os.getpgid(pid), os.getpgid(process.pid))
            opened = {os.readlink(folder / "fd" / name) for name in os.listdir(folder / "fd")}
            self.assertNotIn(str(self.output / "records.jsonl"), opened)
        process.kill()
        process.communicate()

    def test_what_the_plan_says_of_it(self):
        cpu = min(os.sched_getaffinity(0))
        config = self.write("c.yaml", "dataset: {blobs: {}}\nbackends: [sequential]\n"
                            f"memory_limit: 100KB\ntimeout: 2\ncpus: {cpu}\n")
        text = run("run", config, "--dry-run").stdout
        self.assertIn("\nisolation: a worker process for each backend variant, timeout 2 s, memory "
                      f"limit 97.7 KiB, processors {cpu}\n", text)
        self.assertIn(" of memory, 'memory_limit' is 97.7 KiB", " ".join(text.split()))
        required = run("run", config, "--dry-run", "--require", status=2)
        self.assertIn("'memory_limit' is 97.7 KiB", required.stderr)
        text = run("run", config, "--dry-run", "--set", "isolate=trial").stdout
        self.assertIn("\nisolation: a process for each trial, timeout 2 s", text)

    def test_nobody_else_starts_a_worker(self):
        done = run("worker", "--parent", str(os.getpid()), status=2)
        self.assertRegex(done.stderr, r"^lloyd: unknown subcommand 'worker' \(known: run, ")
        self.assertNotRegex(run("--help").stdout, r"(?m)^ +worker\b")


if __name__ == "__main__":
    unittest.main()
