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
  int take_exact_fallbacks() { return 0; }
  void* query(const char*) { return nullptr; }
};
constexpr lloyd::BackendInfo kInfo = lloyd::exact_step_info("mine");
template class lloyd::StepBackend<MyStep, kInfo>;
template class lloyd::LloydLoop<MyStep<float>>;
"""
REPORTING = """#include <lloyd/plugin/sdk/step_backend.hpp>
struct Reporting : lloyd::RowStep<Reporting, float> {
  using RowStep::RowStep;
  std::int32_t label(const float*) const { return 0; }
  using RowStep::assign;
  void assign(lloyd::RowRange, std::int32_t*, lloyd::LabelChangeSums<float>&) {}
};
template class lloyd::LloydLoop<Reporting>;
"""
NARROW = """#include <lloyd/plugin/sdk/step_backend.hpp>
struct Narrow : lloyd::RowStep<Narrow, float> {
  using RowStep::RowStep;
  std::int16_t label(const float*) const { return 0; }
};
template class lloyd::LloydLoop<Narrow>;
"""
# Valid: members that replace those of RowStep, or exist for one type of samples only.
VALID = """#include <lloyd/plugin/sdk/step_backend.hpp>
template <class T>
class MyStep : public lloyd::RowStep<MyStep<T>, T> {
 public:
  using lloyd::RowStep<MyStep<T>, T>::RowStep;
  std::int64_t assign(lloyd::RowRange, std::int32_t*) { return 0; }
  void* query(std::string_view) { return nullptr; }
  lloyd::SumKernels<T> sum_kernels() const requires std::same_as<T, float> { return {}; }
 private:
  void write_labels(int) {}
};
constexpr lloyd::BackendInfo kInfo = lloyd::exact_step_info("mine");
template class lloyd::StepBackend<MyStep, kInfo>;
"""
MESSAGES = ["probe(DeviceList*) must be public and static", "FitSpec&) must be public and static, and return Status",
            "estimate_device_bytes() must be public and static", "estimate_workers(const ParameterList&) must be public and static",
            "label(const T*) must be public and const", "sum_kernels() must be const",
            "take_distances() must return std::int64_t",
            "take_exact_fallbacks() must return std::int64_t", "query() must take std::string_view"]


class StepDeclarations(TestCase):
    def compile(self, text, *options):
        return subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", *options, "-I",
                               ROOT / "core" / "include", self.write("step.cpp", text)],
                              capture_output=True, text=True, timeout=300)

    def test_each_is_named(self):
        done = self.compile(STEP)
        self.assertNotEqual(done.returncode, 0)
        for message in MESSAGES:
            self.assertIn(message, done.stderr)
        self.assertIn("assign(block, labels, changes) must return the number of changed labels",
                      self.compile(REPORTING).stderr)
        self.assertIn("label(const T*) must be public and const", self.compile(NARROW).stderr)

    def test_valid_steps_compile(self):
        done = self.compile(VALID)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_fast_math_is_refused(self):
        for option, compiles in (("-O2", True), ("-ffast-math", False)):
            done = self.compile("#include <lloyd/plugin/plugin.hpp>\n", '-DLLOYD_PLUGIN_NAME="mine"',
                                '-DLLOYD_PLUGIN_VERSION="1"', option)
            self.assertEqual(done.returncode == 0, compiles, done.stderr)
        self.assertIn("a plugin must be compiled without -ffast-math", done.stderr)


if __name__ == "__main__":
    unittest.main()
