"""The SDK names the members of a step that are declared otherwise than it calls them."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ROOT, TestCase

# Without the checks, each of these members has no effect, or the compiler blames the SDK.
STEP = """#include <lloyd/plugin/sdk/step_backend.hpp>
template <class T>
class MyStep : public lloyd::RowStep<MyStep<T>, T> {
 public:
  using lloyd::RowStep<MyStep<T>, T>::RowStep;
  lloyd::Status probe(lloyd::DeviceList*) { return {}; }
  lloyd::Status supports(const lloyd::ProblemShape&, const lloyd::ParameterList&, const lloyd::FitSpec&) const {
    return {};
  }
  std::int64_t estimate_bytes(const lloyd::ProblemShape&, const lloyd::ParameterList&) const { return 0; }
  int estimate_workers(const lloyd::ParameterList&) const { return 1; }
  std::int32_t label(const T*) { return 0; }
  lloyd::SumKernels<T> sum_kernels() { return {}; }
  int take_distances() { return 0; }
  void write_labels(std::int64_t*) {}
  using lloyd::RowStep<MyStep<T>, T>::assign;
  void assign(lloyd::RowRange, std::int32_t*, lloyd::LabelChangeSums<T>&) {}
 private:
  std::int64_t take_exact_fallbacks() { return 0; }
};
constexpr lloyd::BackendInfo kInfo = lloyd::exact_step_info("mine");
template class lloyd::StepBackend<MyStep, kInfo>;
template class lloyd::LloydLoop<MyStep<float>>;
"""
MESSAGES = ["probe(DeviceList*) must be public and static", "FitSpec&) must be public and static, and return Status",
            "estimate_device_bytes() must be public and static", "estimate_workers(const ParameterList&) must be public and static",
            "label(const T*) must be public and const", "sum_kernels() must be public and const",
            "take_distances() must be public and return std::int64_t", "write_labels() must be public and take the labels",
            "assign(block, labels, changes) must return the number of changed labels",
            "take_exact_fallbacks() must be public and return std::int64_t"]


class StepDeclarations(TestCase):
    def test_each_is_named(self):
        source = self.write("step.cpp", STEP)
        done = subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-I", ROOT / "core" / "include",
                               source], capture_output=True, text=True, timeout=300)
        self.assertNotEqual(done.returncode, 0)
        for message in MESSAGES:
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
