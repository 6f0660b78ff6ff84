// Time per iteration of every available backend, and of a textbook loop, on a few shapes.
// Run with --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true for comparisons.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/registry.hpp>
#include <lloyd/seeding.hpp>

#include "textbook.hpp"

namespace {

constexpr std::int64_t kIterations = 10;

struct Shape {
  std::int64_t samples, features, clusters;
};
constexpr Shape kShapes[] = {
    {10'000, 2, 32}, {1'000'000, 2, 32}, {1'000'000, 16, 32}, {200'000, 64, 256}};

// The data and start of one shape; made when it is first run, kept for all its benchmarks.
struct Problem {
  explicit Problem(const Shape& shape)
      : dataset(lloyd::make_blobs({.samples = shape.samples,
                                   .features = shape.features,
                                   .centers = shape.clusters,
                                   .std = 4,
                                   .seed = 1})),
        start(lloyd::seed_centroids(dataset, shape.clusters,
                                    {.method = lloyd::SeedingMethod::random, .seed = 1})) {}
  lloyd::Dataset dataset;
  std::vector<double> start;
};

const Problem& problem(std::size_t shape) {
  static std::unique_ptr<Problem> problems[std::size(kShapes)];
  if (problems[shape] == nullptr) problems[shape] = std::make_unique<Problem>(kShapes[shape]);
  return *problems[shape];
}

void report(benchmark::State& state, const Shape& shape, double seconds_per_iteration) {
  state.SetIterationTime(seconds_per_iteration);
  // A subtraction, a multiplication and an addition per feature of each distance.
  state.counters["GFLOP/s"] = 3e-9 *
                              static_cast<double>(shape.samples * shape.features * shape.clusters) /
                              seconds_per_iteration;
}

void textbook(benchmark::State& state, std::size_t index) {
  const Shape& shape = kShapes[index];
  const Problem& given = problem(index);
  const auto* data = static_cast<const float*>(given.dataset.matrix().data);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(shape.samples));
  for (auto _ : state) {
    std::vector<float> centroids(given.start.begin(), given.start.end());
    const auto begin = std::chrono::steady_clock::now();
    lloyd::bench::textbook_kmeans(data, shape.samples, shape.features, shape.clusters, kIterations,
                                  centroids, labels);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    benchmark::DoNotOptimize(centroids.data());
    report(state, shape, elapsed.count() / static_cast<double>(kIterations));
  }
}

void backend(benchmark::State& state, const std::shared_ptr<const lloyd::LoadedBackend>& loaded,
             const lloyd::ParameterSet& parameters, std::size_t index) {
  const Shape& shape = kShapes[index];
  const Problem& given = problem(index);
  lloyd::FitOptions options;
  options.clusters = shape.clusters;
  options.max_iterations = kIterations;
  options.fixed_iterations = true;
  lloyd::OpenSession session(loaded, given.dataset, parameters);
  for (auto _ : state) {
    const lloyd::Fit fit = session.fit_from(given.start, options);
    report(state, shape, fit.result.loop_ms * 1e-3 / static_cast<double>(kIterations));
  }
}

// The default parameters, and a variant for every other value of a choice and for one thread.
std::vector<lloyd::ParameterSet> variants(const lloyd::LoadedBackend& loaded) {
  std::vector<lloyd::ParameterSet> result = {loaded.default_parameters()};
  for (const lloyd::ParameterInfo& parameter : result.front().schema()) {
    if (parameter.type == lloyd::ParameterType::choice) {
      for (std::int32_t i = 1; i < parameter.choice_count; ++i) {
        result.push_back(loaded.default_parameters());
        result.back().set(parameter.name, parameter.choices[i]);
      }
    } else if (std::string(parameter.name) == "threads") {
      result.push_back(loaded.default_parameters());
      result.back().set(parameter.name, "1");
    }
  }
  return result;
}

template <class Function>
void add(const std::string& name, std::size_t index, Function function) {
  const Shape& shape = kShapes[index];
  const std::string full =
      fmt::format("{}/n:{}/d:{}/k:{}", name, shape.samples, shape.features, shape.clusters);
  benchmark::RegisterBenchmark(full.c_str(), function)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  lloyd::Registry registry(lloyd::Registry::default_folders());
  const auto backends = registry.load_all();
  for (std::size_t index = 0; index < std::size(kShapes); ++index) {
    add("textbook", index, [index](benchmark::State& state) { textbook(state, index); });
    for (const auto& loaded : backends) {
      if (!loaded->available()) continue;
      for (const lloyd::ParameterSet& parameters : variants(*loaded)) {
        const std::string changes = parameters.describe_changes();
        const std::string name = changes.empty() ? loaded->name() : loaded->name() + " " + changes;
        add(name, index, [loaded, parameters, index](benchmark::State& state) {
          backend(state, loaded, parameters, index);
        });
      }
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
