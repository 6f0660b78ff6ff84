"""Failures in release() of a session or a backend, after a trial was measured, cost no trial."""

import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from worker_case import WorkerCase

CONFIG = """
experiment: release
dataset: {blobs: {samples: 60, features: 2, centers: 3, seed: 3}}
clusters: 3
stop: {iterations: 2}
backends: [sequential, PLUGINS]
repeats: 3
"""
LIMIT = 2  # seconds, for plugins that hang
CRASHED = "ended the process: signal 6 (Aborted)"
EXITED = "ended the process: exit(0)"
HUNG = f"did not return within {LIMIT} s"
EXIT = {"exit-crashes": "the plugin ended its process, whose work was done: signal 6 (Aborted)",
        "end-hangs": f"the plugin did not let its process end within {LIMIT} s; its work was done"}
SESSION = {"session-crashes": CRASHED, "session-exits": EXITED, "session-hangs": HUNG}
BACKEND = {"backend-crashes": CRASHED, "backend-hangs": HUNG}


class Release(WorkerCase):
    def finished(self, name, keys, status=0):
        """The plugin's records and the messages of a run that must have all results."""
        process = self.start(plugins=[name], keys=keys, config=CONFIG, options=["--plugin-timeout", LIMIT])
        out, err = self.run_to_end(process)
        self.assertEqual(process.returncode, status, err)
        records = self.records()
        self.assertEqual([record["status"] for record in records], ["ok"] * 6, err)
        self.assertEqual(len({record["inertia"] for record in records}), 1)
        self.assertIn(name, out)
        self.assertTrue((self.output / "summary.csv").exists())
        (self.output / "records.jsonl").unlink()
        good = [record for record in records if record["backend"]["name"] == "sequential"]
        self.assertTrue(all("release_failure" not in record for record in good))
        return [record for record in records if record["backend"]["name"] == name], err

    def test_of_a_session_costs_no_trial(self):
        for mode in ("worker", "trial"):
            for name, how in SESSION.items():
                with self.subTest(name, mode=mode):
                    records, err = self.finished(name, f"isolate: {mode}")
                    for record in records:
                        self.assertIsNone(record["reason"])
                        self.assertIsNotNone(record["inertia_after_one"])
                        self.assertEqual(record["release_failure"],
                                         f"the session was not released: in an earlier trial, release() of the session {how}")
                    self.assertEqual(err.count("release()"), 1, err)
                    self.assertIn(f"{name}: {records[0]['release_failure']}\n", err)

    def test_of_a_session_does_not_delay_seeding(self):
        large = (CONFIG.replace("samples: 60, features: 2", "samples: 230000, features: 8")
                 .replace("clusters: 3", "clusters: 16").replace("repeats: 3", "repeats: 1")
                 .replace("[sequential, PLUGINS]", "[PLUGINS, sequential]"))
        process = self.start(plugins=["session-hangs"], config=large, options=["--plugin-timeout", LIMIT])
        begun = time.monotonic()
        _, err = self.run_to_end(process)
        self.assertLess(time.monotonic() - begun, 55)  # the limit of the seeding is above 60 s
        self.assertEqual(process.returncode, 0, err)
        self.assertNotIn("seeding with", err)
        self.assertEqual([record["status"] for record in self.records()], ["ok"] * 2)

    def test_of_a_session_after_its_own_time_limit(self):
        records, _ = self.finished("session-hangs", "timeout: 1.5")
        self.assertIn("did not return within 1.5 s", records[0]["release_failure"])

    def test_of_a_backend_costs_no_trial(self):
        for mode in ("worker", "trial"):
            for name, how in BACKEND.items():
                with self.subTest(name, mode=mode):
                    records, err = self.finished(name, f"isolate: {mode}")
                    self.assertEqual(err.count("release()"), 1, err)
                    self.assertIn(f"{name}: release() of the backend {how}\n", err)
                    if mode == "trial":
                        self.assertEqual([record["release_failure"] for record in records],
                                         [f"release() of the backend {how}"] + [
                                             "the backend was not released: in an earlier trial, release() of the "
                                             f"backend {how}"] * 2)

    def test_of_a_process_at_its_exit_is_noted_once_and_costs_no_trial(self):
        for mode in ("worker", "trial"):
            for name, how in EXIT.items():
                with self.subTest(name, mode=mode):
                    records, err = self.finished(name, f"isolate: {mode}")
                    self.assertEqual(err.count(f"{name}: {how}\n"), 1, err)
                    self.assertEqual(err.count("process"), 1, err)
                    self.assertFalse(any("release_failure" in record for record in records))

    def test_a_trace_is_kept_too(self):
        records, err = self.finished("session-crashes", "trace: true")
        self.assertEqual([bool(record.get("trace")) for record in records], [False, False, True], err)

    def test_records_without_isolation_are_written_before_a_backend_fails(self):
        for name in BACKEND:
            with self.subTest(name):
                process = self.start(plugins=[name], keys="isolate: none", config=CONFIG,
                                     options=["--plugin-timeout", LIMIT])
                out, err = self.run_to_end(process)
                self.assertEqual(process.returncode, 1, err)
                self.assertEqual([record["status"] for record in self.records()], ["ok"] * 6)
                self.assertIn(name, out)
                (self.output / "records.jsonl").unlink()

    def test_earlier_records_are_resumed_and_reported(self):
        self.finished("session-crashes", "")
        process = self.start(plugins=["session-crashes"], config=CONFIG)
        self.run_to_end(process)
        kept = (self.output / "records.jsonl").read_text()
        process = self.start(plugins=["session-crashes"], config=CONFIG, arguments=["--resume"])
        _, err = self.run_to_end(process)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("nothing is left to do", err)
        self.assertEqual((self.output / "records.jsonl").read_text(), kept)


if __name__ == "__main__":
    unittest.main()
