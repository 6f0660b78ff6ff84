// Benchmark of seeding: every method but centroids from a file, with the core's threads and with
// the kernels of each backend that has some.
#include <lloyd/seeding.hpp>

#include <fmt/format.h>

#include <lloyd/plugin/abi/seeding_kernels.hpp>

#include "program.hpp"

namespace lloyd::bench {
namespace {

// Each run has its own seed, because a method's time may depend on its draws.
Run seed(SeedingMethod method, BackendSession* session, const Problem& problem) {
  return [&problem, method, session, next = std::uint64_t{0}](benchmark::State&) mutable {
    Seeding seeding;
    seeding.method = method;
    seeding.seed = next++;
    const auto k = problem.clusters();
    std::vector<double> centroids;
    const double seconds = seconds_of(
        [&] { centroids = seed_centroids(problem.dataset, k, seeding, 0, {.session = session}); });
    benchmark::DoNotOptimize(centroids.data());
    return seconds;
  };
}

bool offers_kernels(const Variant& variant, DType dtype) {
  const Shape shape{64, 2, 2};
  if (!unsupported(variant, shape, dtype).empty()) return false;
  const Problem problem(shape, dtype);
  BackendSession session(variant.backend, problem.dataset, variant.parameters);
  return session.session().query(kSeedingKernels) != nullptr;
}

void add_all(Program& program) {
  std::vector<Variant> with_kernels;
  for (const Variant& variant : program.variants()) {
    if (offers_kernels(variant, program.dtype())) with_kernels.push_back(variant);
  }
  for (const Shape& shape : program.shapes()) {
    for (const SeedingMethod method : seeding_methods()) {
      if (method == SeedingMethod::file) continue;
      const std::string operation = fmt::format("seeding/{}", to_string(method));
      Row row{operation + "/core", shape, {}, 0, true, {}};
      row.prepare = [method](const Problem& problem) { return seed(method, nullptr, problem); };
      program.add(std::move(row));
      // The other methods compute no distances.
      if (method != SeedingMethod::kmeans_plus_plus && method != SeedingMethod::kmeans_parallel) {
        continue;
      }
      for (const Variant& variant : with_kernels) {
        program.add(operation, variant, shape, {},
                    [method](BackendSession& session, const Problem& problem) {
                      return seed(method, &session, problem);
                    });
      }
    }
  }
}

}  // namespace
}  // namespace lloyd::bench

int main(int argc, char** argv) {
  return lloyd::bench::run_program(argc, argv, lloyd::bench::add_all);
}
