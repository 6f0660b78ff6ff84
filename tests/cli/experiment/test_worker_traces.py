"""Traces are recorded in the process of the trial: a backend that misbehaves while it is observed loses only its trace.
"""

import json
import pathlib
import random
import re
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import SANITIZED
from worker_case import WorkerCase, worker_with

CONFIG = """
experiment: traces
dataset: {blobs: {samples: 3000, features: 4, centers: 6, seed: 3}}
clusters: 6
stop: {iterations: 5}
backends: [sequential, good]
baseline: sequential
repeats: 2
sweep: {seeding.seed: [1, 2]}
trace: true
"""
CRASH = "signal 6 (Aborted)" if SANITIZED else "signal 11 (Segmentation fault)"
ENDED = r"the plugin ended its process in fit\(\): "
# Plugin, further keys of the experiment, pattern of the reason for the missing trace.
BAD = [
    ("observed-crashes", "", rf"{ENDED}{re.escape(CRASH)}; last words: .*"
     + ("SUMMARY: AddressSanitizer" if SANITIZED else "somebody watches")),
    ("observed-crashes", "isolate: trial", rf"{ENDED}{re.escape(CRASH)}"),
    ("observed-exits", "", rf"{ENDED}exit\(4\)\n"),
    ("observed-hangs", "timeout: 3", r"it took longer than 3 s in fit\(\)\n"),
    ("observed-eats-memory", f"memory_limit: {'2GiB' if SANITIZED else '300MiB'}",
     r"it used [\d.]+ [MG]iB of memory, 'memory_limit' is "),
    ("observed-is-silent", "",
     r"observed-is-silent: it reports none of its 5 iterations to an observer"),
]


class WorkerTraces(WorkerCase):
    config = CONFIG

    def traces(self, keys, config=None):
        """The traces of all records in the order of settings and variants, without times."""
        process = self.start(keys=keys, config=config)
        _, err = self.run_to_end(process)
        self.assertEqual((process.returncode, err.count("no trace")), (0, 0), err)
        records = [record for record in self.records() if "trace" in record]
        records.sort(key=lambda record: (record["plan"]["setting"], record["plan"]["variant"]))
        (self.output / "records.jsonl").unlink()
        for record in records:
            elapsed = record["trace"].pop("elapsed_ms")
            self.assertEqual(elapsed, sorted(elapsed))
            self.assertEqual(len(elapsed), len(record["trace"]["inertia"]))
            self.assertEqual(record["trace"]["inertia"][-1], record["inertia"])
        self.kept_restarts = {record["restart"] for record in records}
        return [record["trace"] for record in records]

    def check_bad(self, name, keys, reason):
        process = self.start([name], keys)
        _, err = self.run_to_end(process)
        self.assertEqual(process.returncode, 0, err)
        # One message per setting, and no others.
        self.assertEqual(err.count("no trace"), 2, err)
        for line in err.splitlines():
            if "no trace" in line:
                self.assertRegex(line + "\n", f"{name}: no trace: {reason}")
        records = self.records()
        self.assertEqual([record["status"] for record in records], ["ok"] * 12)
        mine = [record for record in records if record["backend"]["name"] == name]
        self.assertEqual([record for record in mine if "trace" in record], [])
        others = [record for record in records if record["backend"]["name"] != name]
        self.assertEqual([record["repeat"] for record in others if "trace" in record], [1] * 4)
        replays = {record["setting"] for record in others if "replay" in record.get("trace", {})}
        self.assertEqual(len(replays), 2, "each setting has a replay")
        # A process that was lost during a trace does not serve the next trial.
        starts = len({record["start_ms"] for record in mine})
        self.assertEqual(starts, 4 if "trial" in keys else 1 if "silent" in name else 2)

    def test_a_backend_that_is_bad_when_it_is_watched_loses_its_traces_only(self):
        for name, keys, reason in BAD:
            with self.subTest(name, keys=keys):
                self.check_bad(name, keys, reason)
                (self.output / "records.jsonl").unlink()

    def test_a_baseline_that_cannot_be_traced_does_not_cost_the_replay(self):
        process = self.start(["observed-is-silent"], config=CONFIG.replace("baseline: sequential",
                                                                           "baseline: observed-is-silent"))
        _, err = self.run_to_end(process)
        self.assertEqual((process.returncode, err.count("no trace")), (0, 2), err)
        replays = [record["setting"] for record in self.records() if "replay" in record.get("trace", {})]
        self.assertEqual(len(replays), 2)
        self.assertEqual(len(set(replays)), 2)

    def test_traces_agree_whatever_the_isolation(self):
        choose = random.Random(7)
        rows = [f"{choose.gauss(0, 1)},{choose.gauss(0, 1)}" for _ in range(2000)]
        data = self.write("data.csv", "width,height\n" + "\n".join(rows))
        named = CONFIG.replace("{blobs: {samples: 3000, features: 4, centers: 6, seed: 3}}",
                               f"{{file: '{data}'}}") + "restarts: 3\n"
        for config in (CONFIG, named):
            found = [self.traces(f"isolate: {mode}", config)
                     for mode in ("none", "worker", "trial")]
            self.assertEqual(len(found[0]), 4)
            self.assertEqual(found[0], found[1])
            self.assertEqual(found[0], found[2])
            replays = [trace["replay"] for trace in found[1] if "replay" in trace]
            self.assertIn(len(replays), (2, 3, 4), "the baseline's, and those of backends that were traced before it")
        self.assertEqual(replays[0]["axes"], ["width", "height"])
        self.assertGreater(max(self.kept_restarts), 0)

    def test_a_process_is_warm_before_it_is_watched(self):
        for mode in ("worker", "trial"):
            process = self.start(["observed-cold"], f"isolate: {mode}")
            _, err = self.run_to_end(process)
            self.assertEqual((process.returncode, err.count("no trace")), (0, 0), err)
            traced = [record["repeat"] for record in self.records() if "trace" in record]
            self.assertEqual(traced, [1] * 6)
            (self.output / "records.jsonl").unlink()

    def test_a_trace_may_be_longer_than_a_packet(self):
        config = (CONFIG.replace("samples: 3000", "samples: 60")
                  .replace("iterations: 5", "iterations: 20000"))
        config = config.replace("sweep: {seeding.seed: [1, 2]}\n", "")
        found = [self.traces(f"isolate: {mode}", config) for mode in ("none", "worker")]
        self.assertGreater(len(json.dumps(found[1][0])), 1 << 17)
        self.assertEqual(found[0], found[1])

    def test_an_interrupt_ends_a_trace_that_does_not_listen(self):
        process = self.start(["observed-hangs"], "repeats: 1", CONFIG.replace("repeats: 2\n", ""))
        hanging = self.wait_for(lambda: worker_with(process.pid, "observed-hangs"))
        self.wait_until_idle(process.pid, hanging)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("observed-hangs: no trace: interrupted; --resume makes the trial again", err)
        mine = [record for record in self.records()
                if record["backend"]["name"] == "observed-hangs"]
        self.assertEqual([(record["status"], record["reason"]) for record in mine],
                         [("cancelled", "interrupted while its trace was made"), ("cancelled", "not run")])
        self.assertNotIn("trace", mine[0])


if __name__ == "__main__":
    unittest.main()
