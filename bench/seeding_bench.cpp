// Seeding: every method that the core has, but for centroids from a file.
#include <lloyd/seeding.hpp>

#include <fmt/format.h>

#include "program.hpp"

namespace lloyd::bench {
namespace {

// Each run has a seed of its own: a method's time may depend on its draws.
Run seed(SeedingMethod method, const Problem& problem) {
  return [&problem, method, next = std::uint64_t{0}](benchmark::State&) mutable {
    Seeding seeding;
    seeding.method = method;
    seeding.seed = next++;
    const auto k = problem.clusters();
    std::vector<double> centroids;
    const double seconds =
        seconds_of([&] { centroids = seed_centroids(problem.dataset, k, seeding); });
    benchmark::DoNotOptimize(centroids.data());
    return seconds;
  };
}

void add_all(Program& program) {
  for (const Shape& shape : program.shapes()) {
    for (const SeedingMethod method : seeding_methods()) {
      if (method == SeedingMethod::file) continue;
      Row row{fmt::format("seeding/{}", to_string(method)), shape, {}, 0, true, {}};
      row.prepare = [method](const Problem& problem) { return seed(method, problem); };
      program.add(std::move(row));
    }
  }
}

}  // namespace
}  // namespace lloyd::bench

int main(int argc, char** argv) {
  return lloyd::bench::run_program(argc, argv, lloyd::bench::add_all);
}
