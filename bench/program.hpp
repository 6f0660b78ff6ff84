// The benchmark program: options, ceilings, registration, counters.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <lloyd/fit.hpp>

#include "machine/ceilings/ceilings.hpp"
#include "problem.hpp"
#include "variants.hpp"

namespace lloyd::bench {

/// Iterations per fit.
inline constexpr std::int64_t kIterations = 10;

/// The nominal work of a run: the numerators of the counters.
struct Work {
  double operations = 0;  ///< multiplications, additions and subtractions
  double bytes = 0;       ///< read from and written to memory
};

/// One run; returns the measured seconds.
using Run = std::function<double(benchmark::State&)>;

/// A benchmark of one shape.
struct Row {
  std::string name;
  Shape shape;
  Work work;  ///< all zero: the counter is samples/s
  /// Selects the ceiling: 1: that of one thread, else that of all threads. Devices other than the
  /// CPU have none.
  std::int64_t threads = 0;
  bool on_cpu = true;
  /// Prepares the runs of a measurement; it and the run are destroyed before the problem. An
  /// exception of either ends the measurement as an error.
  std::function<Run(const Problem&)> prepare;
};

class Program {
 public:
  /// Parses --shapes, --dtype and Google Benchmark's options, and measures the ceilings. Throws
  /// InputError for invalid shapes and types.
  Program(int& argc, char** argv);

  const std::vector<Shape>& shapes() const { return shapes_; }
  const std::vector<Variant>& variants() const { return variants_; }
  DType dtype() const { return dtype_; }

  /// Registers the row as NAME/n:N/d:D/k:K.
  void add(Row row);
  /// Registers OPERATION/VARIANT/n:N/d:D/k:K. If the variant does not support the shape, prints the
  /// reason to standard error instead. `prepare` receives a session that has labelled the samples
  /// once.
  void add(const std::string& operation, const Variant& variant, const Shape& shape,
           const Work& work, std::function<Run(BackendSession&, const Problem&)> prepare);

  /// Work of an assignment: 2ndk operations; samples are read once, and one label per sample is
  /// written.
  Work assignment(const Shape& shape) const;
  /// Work of an update: nd additions; samples and labels are read once.
  Work update(const Shape& shape) const;

 private:
  void measure(benchmark::State& state, const Row& row);
  void count(benchmark::State& state, const Row& row, double seconds) const;

  std::vector<Shape> shapes_ = default_shapes();
  DType dtype_ = DType::float32;
  Problems problems_{DType::float32};
  machine::Ceilings ceilings_;
  std::vector<Variant> variants_;
};

/// main() of a program whose benchmarks `add_all` registers.
int run_program(int argc, char** argv, const std::function<void(Program&)>& add_all);

/// Wall time of a call in seconds.
template <class Call>
double seconds_of(Call&& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace lloyd::bench
