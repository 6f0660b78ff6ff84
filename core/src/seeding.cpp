#include <lloyd/seeding.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/random.hpp>
#include <lloyd/suggestion.hpp>

#include "kmeans_plus_plus.hpp"

namespace lloyd {
namespace {

// Restart r draws from stream kFirstStream + r; generators of data use streams of their own.
constexpr std::uint64_t kFirstStream = 0x7365'6564'0000'0000u;

struct MethodName {
  SeedingMethod method;
  std::string_view name;
};
constexpr std::array<MethodName, 4> kMethodNames = {{
    {SeedingMethod::kmeans_plus_plus, "k-means++"},
    {SeedingMethod::random, "random"},
    {SeedingMethod::first, "first"},
    {SeedingMethod::file, "file"},
}};

void check_clusters(const Dataset& dataset, std::int64_t clusters) {
  if (clusters >= 1 && clusters <= dataset.samples()) return;
  throw InputError(fmt::format("{}: {} clusters are asked for; the data set allows 1 to {}",
                               dataset.name(), clusters, dataset.samples()));
}

std::vector<std::int64_t> first_samples(std::int64_t clusters) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(clusters));
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int64_t>(i);
  return indices;
}

// The first k places of a Fisher-Yates shuffle of 0..n-1. Only places whose content differs from
// their number are kept, so that memory is O(k).
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

// Whether squared distances between a centroid and the samples stay well inside float64.
bool within_squared_range(const Dataset& dataset, const double* centroid) {
  constexpr double kLimit = 1e290;  // as for the data set itself
  double sum = 0;
  for (std::int64_t j = 0; j < dataset.features(); ++j) {
    const FeatureStatistics& feature = dataset.statistics()[static_cast<std::size_t>(j)];
    const double reach =
        std::max(std::abs(centroid[j] - feature.minimum), std::abs(centroid[j] - feature.maximum));
    sum += reach * reach;
  }
  return sum < kLimit;
}

void check_given_centroids(const Dataset& dataset, std::int64_t clusters, const Seeding& seeding) {
  const std::int64_t d = dataset.features();
  const auto given = static_cast<std::int64_t>(seeding.centroids.size());
  const std::string_view source =
      seeding.file.empty() ? std::string_view("initial centroids") : std::string_view(seeding.file);
  if (given % clusters != 0 || given / clusters != d) {
    throw InputError(fmt::format("{}: there are {} values; {} centroids of {} features are needed",
                                 source, given, clusters, d));
  }
  for (std::int64_t i = 0; i < clusters; ++i) {
    const double* centroid = seeding.centroids.data() + i * d;
    for (std::int64_t j = 0; j < d; ++j) {
      if (std::isfinite(centroid[j])) continue;
      throw InputError(
          fmt::format("{}: row {}, column {} (counted from 0) is {}; all values must be finite",
                      source, i, j, centroid[j]));
    }
    if (!within_squared_range(dataset, centroid)) {
      throw InputError(fmt::format(
          "{}: row {} (counted from 0) is so far from the samples of {} that squared distances "
          "are too near the end of float64",
          source, i, dataset.name()));
    }
  }
}

}  // namespace

std::string_view to_string(SeedingMethod method) {
  for (const MethodName& entry : kMethodNames) {
    if (entry.method == method) return entry.name;
  }
  throw Error(fmt::format("there is no seeding method of number {}", static_cast<int>(method)));
}

SeedingMethod parse_seeding_method(std::string_view name) {
  std::vector<std::string> names;
  for (const MethodName& entry : kMethodNames) {
    if (entry.name == name) return entry.method;
    names.emplace_back(entry.name);
  }
  throw InputError(fmt::format("unknown seeding method '{}'{}", name, suggestion(name, names)));
}

std::vector<std::int64_t> seed_indices(const Dataset& dataset, std::int64_t clusters,
                                       const Seeding& seeding, std::int64_t restart,
                                       const StopFunction& stop) {
  check_clusters(dataset, clusters);
  const RandomStream stream(seeding.seed, kFirstStream + static_cast<std::uint64_t>(restart));
  switch (seeding.method) {
    case SeedingMethod::kmeans_plus_plus:
      return kmeans_plus_plus(dataset.matrix(), clusters, stream, stop);
    case SeedingMethod::random:
      return random_samples(dataset.samples(), clusters, stream);
    case SeedingMethod::first:
      return first_samples(clusters);
    case SeedingMethod::file:
      break;
  }
  throw Error("centroids from a file are not samples and have no indices");
}

std::vector<double> seed_centroids(const Dataset& dataset, std::int64_t clusters,
                                   const Seeding& seeding, std::int64_t restart,
                                   const StopFunction& stop) {
  if (seeding.method == SeedingMethod::file) {
    check_clusters(dataset, clusters);
    check_given_centroids(dataset, clusters, seeding);
    return seeding.centroids;
  }
  std::vector<double> centroids;
  for (const std::int64_t index : seed_indices(dataset, clusters, seeding, restart, stop)) {
    for (std::int64_t j = 0; j < dataset.features(); ++j) {
      centroids.push_back(dataset.matrix().at(index, j));
    }
  }
  return centroids;
}

}  // namespace lloyd
