// Benchmark of whole fits with exactly ten iterations: time of the loop per iteration. An observed
// fit hands the inertia and the centroids of each iteration to an observer.
#include "phases.hpp"
#include "program.hpp"
#include "textbook.hpp"

namespace lloyd::bench {
namespace {

struct ReadingObserver final : Observer {
  bool on_iteration(const IterationRecord& record) noexcept override {
    benchmark::DoNotOptimize(record.centroids[0] + record.inertia);
    return true;
  }
  bool stop_requested() const noexcept override { return false; }
  void* query(const char*) noexcept override { return nullptr; }
};

Run fit_with(BackendSession& session, const Problem& problem, std::uint32_t observe) {
  return [&session, &problem, observe](benchmark::State& state) {
    FitOptions options = fit_options(problem);
    options.observe = observe;
    ReadingObserver observer;
    const Fit fit = session.fit_from(problem.start, options, observe == 0 ? nullptr : &observer);
    // Including the distances of the closing assignment.
    const double all = static_cast<double>(problem.dataset.samples()) *
                       static_cast<double>(options.clusters * (kIterations + 1));
    state.counters["distances"] = static_cast<double>(fit.result.distances) / all;
    return fit.result.loop_ms * 1e-3 / static_cast<double>(kIterations);
  };
}

Run fit(BackendSession& session, const Problem& problem) {
  return fit_with(session, problem, 0);
}

Run observed_fit(BackendSession& session, const Problem& problem) {
  return fit_with(session, problem, kObserveInertia | kObserveCentroids);
}

template <class T>
Run textbook(const Problem& problem) {
  const auto labels = std::make_shared<std::vector<std::int32_t>>(problem.dataset.samples());
  return [&problem, labels](benchmark::State&) {
    const Dataset& dataset = problem.dataset;
    std::vector<T> centroids(problem.start.begin(), problem.start.end());
    const auto k = problem.clusters();
    const double seconds = seconds_of([&] {
      textbook_kmeans(static_cast<const T*>(dataset.matrix().data), dataset.samples(),
                      dataset.features(), k, kIterations, centroids, *labels);
    });
    benchmark::DoNotOptimize(centroids.data());
    return seconds / static_cast<double>(kIterations);
  };
}

void add_all(Program& program) {
  for (const Shape& shape : program.shapes()) {
    Row row{"fit/textbook/threads:1", shape, program.assignment(shape), 1, true, {}};
    row.prepare = program.dtype() == DType::float32 ? textbook<float> : textbook<double>;
    program.add(std::move(row));
    for (const Variant& variant : program.variants()) {
      program.add("fit", variant, shape, program.assignment(shape), fit);
      program.add("observed_fit", variant, shape, program.assignment(shape), observed_fit);
    }
  }
}

}  // namespace
}  // namespace lloyd::bench

int main(int argc, char** argv) {
  return lloyd::bench::run_program(argc, argv, lloyd::bench::add_all);
}
