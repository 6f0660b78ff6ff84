// What the programs share: options, ceilings, registration, counters.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <lloyd/fit.hpp>

#include "machine/ceilings.hpp"
#include "problem.hpp"
#include "variants.hpp"

namespace lloyd::bench {

/// Iterations of every fit.
inline constexpr std::int64_t kIterations = 10;

/// What a run does by convention: the numerators of the counters.
struct Work {
  double operations = 0;  ///< multiplications, additions and subtractions
  double bytes = 0;       ///< read from and written to memory
};

/// One run; returns the seconds that count.
using Run = std::function<double(benchmark::State&)>;

/// A benchmark of one shape.
struct Row {
  std::string name;
  Shape shape;
  Work work;  ///< all zero: the counter is samples/s
  /// The ceiling is that of one thread for 1, else that of all; there is none off the processor.
  std::int64_t threads = 0;
  bool on_cpu = true;
  /// Called before the runs of a measurement; both live shorter than the problem. What either
  /// throws ends the measurement as an error.
  std::function<Run(const Problem&)> prepare;
};

class Program {
 public:
  /// Takes --shapes and --dtype, then Google Benchmark's options, and measures the ceilings. Throws
  /// InputError for shapes and types.
  Program(int& argc, char** argv);

  const std::vector<Shape>& shapes() const { return shapes_; }
  const std::vector<Variant>& variants() const { return variants_; }
  DType dtype() const { return dtype_; }

  /// Registers the row as NAME/n:N/d:D/k:K.
  void add(Row row);
  /// Registers OPERATION/VARIANT/n:N/d:D/k:K; where the variant does not support the shape, says
  /// why on standard error. `prepare` gets a session that has labelled the samples once.
  void add(const std::string& operation, const Variant& variant, const Shape& shape,
           const Work& work, std::function<Run(OpenSession&, const Problem&)> prepare);

  /// An assignment: 2ndk operations; samples are read once, and a label each is written.
  Work assignment(const Shape& shape) const;
  /// The sums of an update: nd additions; samples and labels are read once.
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
