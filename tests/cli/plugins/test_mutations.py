"""The conformance suite detects a broken loop: each mutation makes the named cases fail."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import LLOYD, ROOT, SANITIZED, TestCase, run

SDK = "lloyd/plugin/sdk/"

# Defect, file, code, replacement, cases that must fail. MUTANT is true in the process that tests this mutation.
MUTATIONS = [
    ("ties go to the highest index", "sequential.cpp",
     "if (distance < lowest)", "if (MUTANT ? distance <= lowest : distance < lowest)", ["lattice/ties"]),
    ("the last features of long rows are left out", "sequential.cpp",
     "for (std::int64_t j = 0; j < d; ++j) {\n        const Real difference",
     """for (std::int64_t j = 0; j < (MUTANT && d > 256 ? d / 256 * 256 : d); ++j) {
        const Real difference""", ["invariants/every-feature-counts"]),
    ("unchanged labels do not stop", SDK + "iteration_rules.hpp",
     "if (record.changed == 0) return StopReason::labels;",
     "if (!MUTANT && record.changed == 0) return StopReason::labels;", ["stop/labels"]),
    ("tolerance is passed over", SDK + "iteration_rules.hpp",
     "record.shift <= spec.tolerance", "(MUTANT ? record.shift < 0 : record.shift <= spec.tolerance)",
     ["stop/tolerance"]),
    ("no closing assignment", SDK + "lloyd_loop.hpp",
     "loop_.assign_all(centroids().data(), labels_, Accumulate::counts_and_inertia);",
     """if (MUTANT) {
        loop_.sum_labels(labels_);
      } else {
        loop_.assign_all(centroids().data(), labels_, Accumulate::counts_and_inertia);
      }""", ["stop/closing-assignment"]),
    ("a cancelled fit returns no centroids", SDK + "fit_driver.hpp",
     "result.valid |= kValidCentroids;", "if (!MUTANT || !cancelled) result.valid |= kValidCentroids;",
     ["cancel/at-iteration"]),
    ("a count is off by one", SDK + "cluster_sums.hpp",
     "++counts_[static_cast<std::size_t>(to)];", "counts_[static_cast<std::size_t>(to)] += MUTANT ? 2 : 1;",
     ["empty/relocate"]),
    ("counts of the closing assignment start at one", SDK + "lloyd_loop.hpp",
     "worker.counts.assign(static_cast<std::size_t>(clusters_), 0);",
     "worker.counts.assign(static_cast<std::size_t>(clusters_), MUTANT ? 1 : 0);", ["lattice/one-iteration"]),
    ("relocation takes a cluster's only sample", SDK + "iteration_rules.hpp",
     "if (donor_count < 2) continue;", "if (donor_count < (MUTANT ? 1 : 2)) continue;",
     ["empty/relocate-spares-single-samples"]),
    ("a relocation does not keep the fit going", SDK + "iteration_rules.hpp",
     "spec.stop_rule == StopRule::converge && record.relocations == 0",
     "spec.stop_rule == StopRule::converge && (MUTANT || record.relocations == 0)",
     ["stop/relocation-goes-on"]),
]

# Included before all code: true for the mutation that the environment selects.
SWITCH = """
#include <cstdlib>
inline bool lloyd_mutant(int number) {
  const char* const selected = std::getenv("LLOYD_MUTANT");
  return selected != nullptr && std::atoi(selected) == number;
}
"""

# Replaces the closing assignment: counts and inertia of the last iteration's labels.
LAST_LABELS = """
  void sum_labels(const std::int32_t* labels) {
    clear_workers();
    for_each_block(all_rows(), [&](LoopWorker& worker, RowRange block) {
      for (std::int64_t i = block.begin; i < block.end; ++i) {
        worker.inertia.add(own_distance(i, labels[i]));
        ++worker.counts[static_cast<std::size_t>(labels[i])];
      }
    });
  }

  S& step_;
"""


class Mutations(TestCase):
    def build(self, mutated):
        """Builds the baseline, or the baseline with all mutations, and returns the plugin."""
        tree = self.folder / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(ROOT / "core" / "include", tree)
        shutil.copy(ROOT / "plugins" / "sequential" / "sequential.cpp", tree)
        (tree / "switch.hpp").write_text(SWITCH)
        for number, (_, file, code, replacement, _) in enumerate(MUTATIONS if mutated else []):
            text = (tree / file).read_text()
            self.assertEqual(text.count(code), 1, f"{file} no longer has: {code}")
            text = text.replace(code, replacement.replace("MUTANT", f"lloyd_mutant({number})"))
            if "sum_labels" in replacement:
                text = text.replace("\n  S& step_;\n", LAST_LABELS)
            (tree / file).write_text(text)
        plugin = self.folder / "lloyd_mutant.so"
        # The control runs the whole suite; a mutation runs few cases, so compiling it takes longer.
        subprocess.run(
            [os.environ.get("CXX", "c++"), "-std=c++20", "-O0" if mutated else "-O1", "-fPIC", "-shared",
             "-fvisibility=hidden", "-ffp-contract=off", "-DLLOYD_PLUGIN_NAME=\"mutant\"",
             "-DLLOYD_PLUGIN_VERSION=\"0\"", "-include", str(tree / "switch.hpp"), "-I", str(tree),
             str(tree / "sequential.cpp"), "-o", str(plugin)], check=True)
        return plugin

    @unittest.skipIf(SANITIZED, "the plain build shows it")
    def test_each_break_is_seen(self):
        run("verify", self.build(mutated=False))  # the control: the unmodified baseline passes
        plugin = self.build(mutated=True)
        for number, (what, _, _, _, cases) in enumerate(MUTATIONS):
            with self.subTest(what):
                for case in cases:
                    done = subprocess.run([LLOYD, "verify", str(plugin), "--case", case + "*"],
                                          capture_output=True, text=True, timeout=300,
                                          env={**os.environ, "LLOYD_MUTANT": str(number)})
                    self.assertEqual(done.returncode, 1, f"{case} passed although {what}")
                    self.assertRegex(done.stdout, rf"(?m)^failed +{case}")
        # Without a selected mutation, the same plugin passes these cases.
        for case in {case for *_, cases in MUTATIONS for case in cases}:
            run("verify", plugin, "--case", case + "*")


if __name__ == "__main__":
    unittest.main()
