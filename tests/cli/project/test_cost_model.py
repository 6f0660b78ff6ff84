"""The model of bench/scaling.py: simulated schedules add up what they should, in the time of the closed formulas."""

import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from mpi import ENVIRONMENT, MPIEXEC
from program import LLOYD, ROOT, TestCase

BENCH = ROOT / "bench"
sys.path.insert(0, str(BENCH))
from cost_model import formulas
from cost_model.iteration import all_reduce, simulate_iteration, start_times
from cost_model.measurement import MeasurementError, fit_links, predict
from cost_model.problem import Machine, Problem
from cost_model.schedules import SCHEDULES, Step
from cost_model.simulation import DeadlockError, Simulation

LATENCY, BANDWIDTH, REDUCE = 1e-6, 5e9, 4e9
EQUAL_LINKS = Machine(local_latency=LATENCY, local_bandwidth=BANDWIDTH, network_latency=LATENCY,
                      network_bandwidth=BANDWIDTH, reduce_bandwidth=REDUCE, rank_flops=1e9, cell_time=1e-9)


def machine(**changes):
    return Machine(**{**vars(EQUAL_LINKS), **changes})


def simulate(name, ranks, count, on=EQUAL_LINKS, values=None):
    return Simulation(on, values).run(lambda rank: SCHEDULES[name](ranks, rank, count, on), ranks, [0.0] * ranks)


class CostModel(TestCase):
    def test_every_schedule_adds_up_the_values_of_all_ranks(self):
        draw = random.Random(1)
        for name, ranks, per_host in itertools.product(SCHEDULES, (1, 2, 3, 4, 5, 7, 8, 13), (1, 3, 4)):
            for count in (1, 29):
                with self.subTest(schedule=name, ranks=ranks, per_host=per_host, values=count):
                    values = [[draw.randrange(1000) for _ in range(count)] for _ in range(ranks)]
                    sums = [sum(column) for column in zip(*values, strict=True)]
                    found = simulate(name, ranks, count, machine(ranks_per_host=per_host), values)
                    self.assertEqual(found.values, [sums] * ranks)

    def test_times_and_messages_are_those_of_the_closed_formulas(self):
        names = [name for name in SCHEDULES if name != "hierarchical"]
        self.assertEqual(len(names), 5)
        for name, ranks, count in itertools.product(names, (1, 2, 4, 8, 64), (64, 64000)):
            with self.subTest(schedule=name, ranks=ranks, values=count):
                found = simulate(name, ranks, count)
                formula = getattr(formulas, name.replace("-", "_"))
                expected = formula(8 * count, ranks, LATENCY, 1 / BANDWIDTH, 1 / REDUCE)
                self.assertAlmostEqual(found.seconds, expected, delta=1e-9 * expected)
                messages = "rabenseifner" if name == "by-centroid" else name.replace("-", "_")
                self.assertEqual(found.messages, getattr(formulas, f"{messages}_messages")(ranks))

    def test_trees_in_hosts_use_the_network_once_per_host(self):
        for hosts, per_host in ((1, 8), (4, 1), (4, 2), (8, 16)):
            with self.subTest(hosts=hosts, per_host=per_host):
                on = machine(ranks_per_host=per_host, network_latency=3e-6, network_bandwidth=1e9)
                found = simulate("hierarchical", hosts * per_host, 6400, on)
                expected = formulas.hierarchical(51200, hosts, per_host, (LATENCY, 1 / BANDWIDTH), (3e-6, 1e-9), 1 / REDUCE)
                self.assertAlmostEqual(found.seconds, expected, delta=1e-9 * expected)
                self.assertEqual(found.messages, formulas.hierarchical_messages(hosts, per_host))
                self.assertEqual(found.network_messages, formulas.rabenseifner_messages(hosts))
                self.assertAlmostEqual(found.network_bytes, 2 * 51200 * (hosts - 1))

    def test_ranks_of_a_host_share_its_network_link(self):
        on = machine(ranks_per_host=4)
        schedule = lambda rank: iter([Step(to=rank + 4, sent=(0, 1000)) if rank < 4 else
                                      Step(source=rank - 4, received=(0, 1000))])
        found = Simulation(on).run(schedule, 8, [0.0] * 8)
        self.assertAlmostEqual(found.seconds, LATENCY + 4 * 8000 / BANDWIDTH, places=12)
        alone = Simulation(machine(ranks_per_host=1)).run(schedule, 8, [0.0] * 8)
        self.assertAlmostEqual(alone.seconds, LATENCY + 8000 / BANDWIDTH, places=12)

        def between_hosts(rank, outwards):
            if rank >= 4 and rank % 4:
                return
            peer, is_inside = (4 * rank + 4, True) if rank < 4 else (rank // 4 - 1, False)
            yield Step(to=peer, sent=(0, 1000)) if is_inside == outwards else Step(source=peer, received=(0, 1000))
        for outwards in (True, False):
            spread = Simulation(on).run(lambda rank, outwards=outwards: between_hosts(rank, outwards), 20, [0.0] * 20)
            self.assertAlmostEqual(spread.seconds, LATENCY + 4 * 8000 / BANDWIDTH, places=12)

    def test_messages_without_a_partner_are_found(self):
        for steps in ([Step(to=1, sent=(0, 1))], [Step(source=1, received=(0, 1))]):
            with self.assertRaises(DeadlockError):
                Simulation(EQUAL_LINKS).run(lambda rank, steps=steps: iter(steps if rank == 0 else []), 2, [0.0, 0.0])

    def test_many_chunks_take_the_time_of_all(self):
        for count, chunks in ((10, 1), (20, 2), (57, 6), (60, 6)):
            with self.subTest(values=count):
                found = all_reduce(SCHEDULES["rabenseifner"], count, EQUAL_LINKS, 4, [0.0] * 4, chunk_values=10)
                self.assertEqual(sum(times for _, times in found), chunks)
                start, messages = [0.0] * 4, 0
                for first in range(0, count, 10):
                    whole = Simulation(EQUAL_LINKS).run(
                        lambda rank, first=first: SCHEDULES["rabenseifner"](4, rank, min(10, count - first), EQUAL_LINKS),
                        4, start)
                    start, messages = whole.finished, messages + whole.messages
                seconds, before = 0, 0
                for result, times in found:
                    seconds, before = seconds + times * (result.seconds - before), result.seconds
                self.assertAlmostEqual(seconds, max(start), places=12)
                self.assertEqual(sum(result.messages * times for result, times in found), messages)

    def test_messages_have_the_limbs_of_the_core(self):
        # 48 bits per value and 1e6 samples: the change of a sum has 70 bits with its sign. Limbs have 62 bits less 1 to 14.
        problem = Problem(10 ** 6, 16, 32, 48)
        self.assertEqual([problem.limbs(ranks) for ranks in (1, 2, 10000)], [2, 2, 2])
        self.assertEqual(problem.message_values(2), 6 + 32 + 512 + 256)  # pairs of high limbs share a value
        self.assertEqual(Problem(10 ** 6, 3, 5, 48).message_values(2), 6 + 5 + 15 + 8)
        for bits, ranks, values in ((69, 2, 768), (70, 2, 1024), (56, 10000, 768), (57, 10000, 1024)):
            self.assertEqual(Problem(10 ** 6, 16, 32, bits).sum_values(ranks), values, (bits, ranks))
        self.assertEqual(Problem(10 ** 6, 16, 32, 42).limbs(10 ** 4), 1)  # 63 bits with the sign
        self.assertEqual(Problem(10 ** 6, 16, 32, 43).limbs(10 ** 4), 2)
        self.assertEqual([Problem(10 ** 9, 16, 32, 90).limbs(ranks) for ranks in (2, 10000)], [2, 3])
        self.assertEqual([Problem(10 ** 9, 16, 32, 92).limbs(ranks) for ranks in (1, 64)], [2, 3])
        self.assertEqual(Problem(10 ** 9, 16, 32).bits, 26 + 34)

    def test_the_slowest_rank_is_waited_for(self):
        for ranks in (2, 50):
            times = start_times(2.0, 0.25, ranks)
            self.assertEqual(max(times), 2.5)
            self.assertGreaterEqual(min(times), 1.5)
        problem = Problem(8000, 2, 4, 20)
        even = simulate_iteration(problem, EQUAL_LINKS, 8, "binomial")
        uneven = simulate_iteration(problem, machine(imbalance=0.5), 8, "binomial")
        self.assertEqual(even.waiting, 0)
        self.assertAlmostEqual(uneven.waiting, even.compute / 2)
        self.assertGreaterEqual(uneven.seconds, even.seconds + even.compute / 2 - even.all_reduce)

    def test_links_are_found_again_in_the_times_that_they_cause(self):
        ranges = [(1e-6, 1e-9), (3e-6, 2e-10), (5e-6, 4e-10)]  # latency, seconds per byte
        links = [machine(local_latency=a, local_bandwidth=1 / b, reduce_bandwidth=2 / b, ranks_per_host=100)
                 for a, b in ranges]
        run = {"ranks": 2, "threads": 1, "processors": 2, "samples": 1000, "features": 2, "clusters": 4,
               "value_bits": 20, "message_values": 18, "alone_ms": 3.0, "together_ms": 4.0, "communication_ms": 0.5,
               "waiting_ms": 0.1,
               "all_reduce": [{"values": count, "ms": 1000 * simulate("binomial", 2, count, on).seconds}
                              for on, counts in zip(links, ((1, 500), (1000, 65536), (100000, 1000000)), strict=True)
                              for count in counts]}
        fitted = fit_links([run])
        for found, (latency, per_byte) in zip(fitted, ranges, strict=True):
            self.assertAlmostEqual(found.local_latency / latency, 1, places=6)
            self.assertAlmostEqual(found.local_bandwidth * per_byte, 1, places=6)
        found = predict([run], fitted)
        for row in found.all_reduces:
            self.assertAlmostEqual(row.ratio, 1, places=6)
        expected = 3 + 1000 * simulate("binomial", 2, 18, links[0]).seconds
        self.assertAlmostEqual(found.iterations[0].predicted, expected, places=9)
        self.assertIsNone(predict([{**run, "threads": 2}], fitted).iterations[0].predicted)
        with self.assertRaisesRegex(MeasurementError, "expects messages of 18 values, but those .* have 19"):
            predict([{**run, "message_values": 19}], fitted)
        self.assertIsNone(fit_links([{**run, "all_reduce": run["all_reduce"][:4]}]))

    def scaling(self, *arguments, status=0):
        done = subprocess.run([sys.executable, "-B", BENCH / "scaling.py", *arguments], capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_predictions_are_printed_per_rank_and_algorithm(self):
        lines = self.scaling("predict", "--shape", "1e6x16x32", "--ranks", "2,8", "--algorithms", "binomial,ring",
                             "--imbalance", "0.1").stdout.splitlines()
        self.assertEqual(lines[0], "(1e6, 16, 32): 50 bits per value")
        rows = [line.split() for line in lines[3:7]]
        self.assertEqual([row[:2] + row[4:5] for row in rows],
                         [[ranks, "2", name] for ranks in ("2", "8") for name in ("binomial", "ring")])

    def test_bad_options_have_status_2_and_one_sentence(self):
        for arguments, message in ((("--shape", "1e6x2"), "the shape '1e6x2' is not SAMPLESxFEATURESxCLUSTERS"),
                                   (("--shape", "1x0x2"), "the shape '1x0x2' has a number below 1"),
                                   (("--ranks", "2,0"), "'2,0' is not a list of integers >= 1, separated by commas"),
                                   (("--algorithms", "star"), "unknown algorithm 'star'; there are binomial,")):
            with self.subTest(message):
                self.assertIn(message, self.scaling("predict", *arguments, status=2).stderr)
        done = self.scaling("measure", "--mpirun", "/nowhere/mpirun", status=1)
        self.assertEqual(done.stderr, "scaling.py: /nowhere/mpirun cannot be run: No such file or directory\n")

    @unittest.skipUnless(MPIEXEC and os.environ["LLOYD_BUILD_BENCH"] == "1", "this build has no rank_times")
    def test_measured_fits_have_the_messages_of_the_model(self):
        file = self.folder / "found.json"
        done = subprocess.run(
            [sys.executable, "-B", BENCH / "scaling.py", "measure", "--build", pathlib.Path(LLOYD).parents[1], "--mpirun",
             MPIEXEC, "--shape", "2000x3x4", "--ranks", "1,2", "--iterations", "3", "--rounds", "1", "--json", file],
            capture_output=True, text=True, env=ENVIRONMENT, stdin=subprocess.DEVNULL, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        alone, two = json.loads(file.read_text())
        self.assertEqual(alone["ranks"], 1)
        self.assertEqual(two["ranks"], 2)
        self.assertEqual(two["message_values"],
                         Problem(2000, 3, 4, two["value_bits"]).message_values(2))
        rows = done.stdout.split("iteration\n")[1].splitlines()
        self.assertEqual([row.split()[:4] for row in rows], [[ranks, "2000", "3", "4"] for ranks in ("1", "2")])

    @unittest.skipUnless(os.environ["LLOYD_BUILD_BENCH"] == "1", "this build has no rank_times")
    def test_rank_times_refuses_bad_arguments(self):
        program = pathlib.Path(LLOYD).parent / "rank_times"
        for arguments, message in (((), "usage: rank_times SAMPLES FEATURES CLUSTERS ITERATIONS ROUNDS [THREADS]"),
                                   (("9", "2", "x", "2", "1"), "rank_times: CLUSTERS is 'x'; it must be a whole number >= 1"),
                                   (("9", "2", "3", "1", "1"), "rank_times: ITERATIONS is '1'; it must be a whole number >= 2"),
                                   (("2", "2", "3", "2", "1"), "rank_times: 3 clusters are more than 2 samples")):
            with self.subTest(message):
                done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (2, message + "\n"))

    def test_the_page_names_every_schedule(self):
        page = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
        named = set(re.findall(r"^\| `([a-z-]+)` \|", page, re.M))
        self.assertEqual(named, set(SCHEDULES))


if __name__ == "__main__":
    unittest.main()
