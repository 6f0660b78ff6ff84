#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/ranks.hpp>
#include <lloyd/seeding.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/internal/suggestion.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>
#include <lloyd/random.hpp>

#include "dataset/check_shape.hpp"
#include "dataset/squared_range.hpp"
#include "parallel/range_workers.hpp"
#include "seeding/distributed_samples.hpp"
#include "seeding/kmeans_parallel.hpp"
#include "seeding/kmeans_plus_plus.hpp"
#include "seeding/matrix_samples.hpp"
#include "seeding/potential.hpp"
#include "seeding/session_samples.hpp"
#include "session/session_use.hpp"

namespace lloyd {
namespace {

// Restart r uses the random stream kFirstStream + r, and k-means|| uses two more. Data generators
// use other streams.
constexpr std::uint64_t kFirstStream = 0x7365'6564'0000'0000u;
constexpr std::uint64_t kRoundsStream = 0x7365'6565'0000'0000u;
constexpr std::uint64_t kReductionStream = 0x7365'6566'0000'0000u;

struct MethodName {
  SeedingMethod method;
  std::string_view name;
};
constexpr std::array<MethodName, 5> kMethodNames = {{
    {SeedingMethod::kmeans_plus_plus, "k-means++"},
    {SeedingMethod::kmeans_parallel, "k-means||"},
    {SeedingMethod::random, "random"},
    {SeedingMethod::first, "first"},
    {SeedingMethod::file, "file"},
}};

void check_clusters(const Dataset& dataset, std::int64_t clusters) {
  if (clusters >= 1 && clusters <= dataset.total_samples()) return;
  throw InputError(fmt::format("{}: {} clusters were requested; the data set allows 1 to {}",
                               dataset.name(), clusters, dataset.total_samples()));
}

std::vector<std::int64_t> first_samples(std::int64_t clusters) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(clusters));
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int64_t>(i);
  return indices;
}

// The first k entries of a Fisher-Yates shuffle of 0..n-1. Only entries that differ from their
// index are stored, so that memory is O(k).
std::vector<std::int64_t> random_samples(std::int64_t samples, std::int64_t clusters,
                                         const RandomStream& stream) {
  std::unordered_map<std::int64_t, std::int64_t> moved;
  const auto content = [&moved](std::int64_t place) {
    const auto found = moved.find(place);
    return found == moved.end() ? place : found->second;
  };
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < clusters; ++i) {
    const auto remaining = static_cast<std::uint64_t>(samples - i);
    const std::int64_t place =
        i + static_cast<std::int64_t>(stream.below(remaining, static_cast<std::uint64_t>(i)));
    indices.push_back(content(place));
    moved[place] = content(i);
  }
  return indices;
}

void check_given_centroids(const Dataset& dataset, std::int64_t clusters, const Seeding& seeding) {
  const std::int64_t d = dataset.features();
  const auto given = static_cast<std::int64_t>(seeding.centroids.size());
  if (given == 0 && !seeding.file.empty()) {
    throw InputError(fmt::format(
        "Seeding::file is '{}', but Seeding::centroids is empty; the library does not read the "
        "file, so read its {} of {} into Seeding::centroids",
        seeding.file, format_count(clusters, "centroid"), format_count(d, "feature")));
  }
  const std::string_view source =
      seeding.file.empty() ? std::string_view("initial centroids") : std::string_view(seeding.file);
  if (given % clusters != 0 || given / clusters != d) {
    throw InputError(fmt::format("{}: there are {} values; {} of {} are needed", source, given,
                                 format_count(clusters, "centroid"), format_count(d, "feature")));
  }
  for (std::int64_t i = 0; i < clusters; ++i) {
    const double* centroid = seeding.centroids.data() + i * d;
    for (std::int64_t j = 0; j < d; ++j) {
      if (std::isfinite(centroid[j])) continue;
      throw InputError(
          fmt::format("{}: row {}, column {} (counted from 0) is {}; all values must be finite",
                      source, i, j, centroid[j]));
    }
    if (!(farthest_square(dataset.statistics(), centroid) < kLargestSquare)) {
      throw InputError(fmt::format(
          "{}: row {} (counted from 0) is so far from the samples of {} that squared distances "
          "are too near the end of float64",
          source, i, dataset.name()));
    }
  }
}

void require_session_on(const Dataset& dataset, const BackendSession& session) {
  if (&session.dataset() == &dataset) return session.check_dataset();
  throw InputError(
      fmt::format("{}: the session was opened on {}", dataset.name(), session.dataset().name()));
}

// The session's ResidentSeeding; null with several ranks, or if it offers none.
ResidentSeeding* resident_seeding(const Dataset& dataset, const SeedingResources& resources) {
  if (resources.session == nullptr || dataset.communicator() != nullptr) return nullptr;
  dataset.check_mapped_file();
  require_session_on(dataset, *resources.session);
  return static_cast<ResidentSeeding*>(resources.session->session().query(kResidentSeeding));
}

// The samples of this process.
std::unique_ptr<SeedingSamples> make_local_samples(const Dataset& dataset,
                                                   const SeedingResources& resources,
                                                   const RangeWorkers& workers) {
  dataset.check_mapped_file();
  if (resources.session != nullptr) {
    BackendSession& session = *resources.session;
    require_session_on(dataset, session);
    if (void* kernels = session.session().query(kSeedingKernels)) {
      return std::make_unique<SessionSamples>(dataset, *static_cast<SeedingKernels*>(kernels),
                                              session.backend().name(), workers);
    }
  }
  require_host_memory(dataset, "seeding without a session whose backend has seeding kernels");
  if (!dataset.in_memory()) {
    throw InputError(
        fmt::format("{}: seeding data that is not in memory needs SeedingResources::session, a "
                    "session on it",
                    dataset.name()));
  }
  return std::make_unique<MatrixSamples>(dataset.matrix(), workers);
}

std::unique_ptr<SeedingSamples> make_samples(const Dataset& dataset,
                                             const SeedingResources& resources, const Ranks& ranks,
                                             const RangeWorkers& workers) {
  if (dataset.communicator() == nullptr) return make_local_samples(dataset, resources, workers);
  std::unique_ptr<SeedingSamples> local;
  ranks.together([&] {
    if (dataset.samples() > 0) local = make_local_samples(dataset, resources, workers);
  });
  return std::make_unique<DistributedSamples>(dataset, std::move(local), ranks, workers);
}

// Ranks that seed differently would wait for each other.
void require_same_seeding(const Ranks& ranks, std::int64_t clusters, const Seeding& seeding,
                          std::int64_t restart) {
  constexpr const char* kNames[] = {"clusters", "seeding",      "seed",
                                    "restart",  "oversampling", "rounds"};
  const std::int64_t values[] = {clusters,
                                 static_cast<std::int64_t>(seeding.method),
                                 static_cast<std::int64_t>(seeding.seed),
                                 restart,
                                 std::bit_cast<std::int64_t>(seeding.oversampling),
                                 seeding.rounds};
  ranks.require_same(values, kNames);
}

// seed_indices() with `ranks` of the data set's communicator. Throws AgreedError for several ranks.
std::vector<std::int64_t> choose_samples(const Dataset& dataset, std::int64_t clusters,
                                         const Seeding& seeding, std::int64_t restart,
                                         const SeedingResources& resources, const Ranks& ranks) {
  const auto stream = [&](std::uint64_t first) {
    return RandomStream(seeding.seed, first + static_cast<std::uint64_t>(restart));
  };
  const RangeWorkers workers(resources.threads, resources.stop);
  switch (seeding.method) {
    case SeedingMethod::kmeans_plus_plus: {
      if (ResidentSeeding* const resident = resident_seeding(dataset, resources)) {
        ResidentPotential potential(dataset, *resident, resources.session->backend().name(),
                                    resources.stop);
        return kmeans_plus_plus(potential, clusters, stream(kFirstStream), resources.progress);
      }
      const auto samples = make_samples(dataset, resources, ranks, workers);
      HostPotential potential(*samples, workers);
      return kmeans_plus_plus(potential, clusters, stream(kFirstStream), resources.progress);
    }
    case SeedingMethod::kmeans_parallel: {
      const double per_round = std::ceil(seeding.oversampling * static_cast<double>(clusters));
      const ScalableSeeding scalable{static_cast<std::int64_t>(std::min(per_round, 0x1p40)),
                                     seeding.rounds, stream(kFirstStream), stream(kRoundsStream),
                                     stream(kReductionStream)};
      return kmeans_parallel(*make_samples(dataset, resources, ranks, workers), clusters, scalable,
                             workers, resources.progress);
    }
    case SeedingMethod::random:
      return random_samples(dataset.total_samples(), clusters, stream(kFirstStream));
    case SeedingMethod::first:
      return first_samples(clusters);
    case SeedingMethod::file:
      break;
  }
  throw InputError("centroids from a file are not samples and have no indices");
}

}  // namespace

std::string_view to_string(SeedingMethod method) {
  for (const MethodName& entry : kMethodNames) {
    if (entry.method == method) return entry.name;
  }
  throw Error(fmt::format("there is no seeding method with number {}", static_cast<int>(method)));
}

SeedingMethod parse_seeding_method(std::string_view name) {
  std::vector<std::string> names;
  for (const MethodName& entry : kMethodNames) {
    if (entry.name == name) return entry.method;
    names.emplace_back(entry.name);
  }
  throw InputError(fmt::format("unknown seeding method '{}'{}", name, suggestion(name, names)));
}

void check_seeding(const Seeding& seeding) {
  const auto method = static_cast<int>(seeding.method);
  if (method < 0 || method > static_cast<int>(SeedingMethod::file)) {
    throw InputError(fmt::format(
        "seeding.method is {}; it must be one of the enumerators of SeedingMethod", method));
  }
  if (seeding.method != SeedingMethod::kmeans_parallel) return;
  if (!(seeding.oversampling > 0) || !(seeding.oversampling <= kMaxOversampling)) {
    throw InputError(fmt::format("oversampling is {}; it must be a number above 0, at most {}",
                                 seeding.oversampling, kMaxOversampling));
  }
  if (seeding.rounds < 1 || seeding.rounds > kMaxRounds) {
    throw InputError(
        fmt::format("rounds is {}; it must be from 1 to {}", seeding.rounds, kMaxRounds));
  }
}

double seeding_bytes(const Seeding& seeding, const ProblemShape& shape) {
  const auto n = static_cast<double>(shape.samples);
  const auto k = static_cast<double>(shape.clusters);
  const double row = 8 * static_cast<double>(shape.features);
  switch (seeding.method) {
    case SeedingMethod::kmeans_plus_plus:
      return 8 * n + n / 256 + k * (8 + row);
    case SeedingMethod::kmeans_parallel: {
      const double collected =
          std::min(n, seeding.oversampling * k * static_cast<double>(seeding.rounds) + k);
      return 12 * n + n / 256 + collected * (64 + 2 * row);
    }
    case SeedingMethod::random:
    case SeedingMethod::first:
    case SeedingMethod::file:
      break;
  }
  return k * (64 + row);
}

bool computes_distances(SeedingMethod method) {
  return method == SeedingMethod::kmeans_plus_plus || method == SeedingMethod::kmeans_parallel;
}

bool uses_seed(SeedingMethod method) {
  return method != SeedingMethod::first && method != SeedingMethod::file;
}

std::vector<SeedingMethod> seeding_methods() {
  std::vector<SeedingMethod> methods;
  for (const MethodName& entry : kMethodNames) methods.push_back(entry.method);
  return methods;
}

std::vector<std::int64_t> seed_indices(const Dataset& dataset, std::int64_t clusters,
                                       const Seeding& seeding, std::int64_t restart,
                                       const SeedingResources& resources) {
  const FloatEnvironment environment;
  std::optional<SessionUse> use;
  if (resources.session != nullptr) use.emplace(*resources.session, SessionUse::Scope::call);
  return with_core_errors([&] {
    const Ranks ranks(dataset.communicator());
    require_same_seeding(ranks, clusters, seeding, restart);
    check_clusters(dataset, clusters);
    check_seeding(seeding);
    return choose_samples(dataset, clusters, seeding, restart, resources, ranks);
  });
}

std::vector<double> seed_centroids(const Dataset& dataset, std::int64_t clusters,
                                   const Seeding& seeding, std::int64_t restart,
                                   const SeedingResources& resources) {
  if (seeding.method == SeedingMethod::file) {
    check_clusters(dataset, clusters);
    check_given_centroids(dataset, clusters, seeding);
    return seeding.centroids;
  }
  std::vector<std::int64_t> indices;
  try {
    indices = seed_indices(dataset, clusters, seeding, restart, resources);
  } catch (const Cancelled&) {
    throw;
  } catch (const Error&) {
    with_core_errors([&] {
      Ranks(dataset.communicator()).together([&] {
        if (resources.session != nullptr) resources.session->check_source();
        dataset.check_unchanged();  // a changed file is the better explanation
      });
    });
    throw;
  }
  return with_core_errors([&] {
    const Ranks ranks(dataset.communicator());
    ranks.together([&] { dataset.check_unchanged(); });
    return shared_rows(dataset, ranks, indices);
  });
}

}  // namespace lloyd
