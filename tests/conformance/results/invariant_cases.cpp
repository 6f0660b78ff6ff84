// Fits on data of many shapes; every iteration is checked against the definitions.
#include <algorithm>
#include <utility>

#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"

namespace lloyd::conformance {
namespace {

Setting from_first_rows(const Samples& samples, std::int64_t k, std::int64_t max_iterations) {
  Setting setting;
  setting.clusters = k;
  setting.centroids = first_rows(samples, k);
  setting.max_iterations = max_iterations;
  setting.empty = EmptyClusters::relocate;
  return setting;
}

void add_fit(std::vector<NamedFit>& fits, const char* name, const Samples& samples, std::int64_t k,
             std::int64_t max_iterations) {
  fits.push_back({name, samples, from_first_rows(samples, k, max_iterations)});
}

void separated(const Context& context) {
  const Samples samples = rounded(blobs(2000, 5, 8, 1.0, 1), context.dtype());
  verify_fits(context, {{"separated blobs", samples, from_first_rows(samples, 8, 50)}});
}

void overlapping(const Context& context) {
  const Samples samples = rounded(cloud(3000, 3, 2), context.dtype());
  verify_fits(context, {{"one cloud", samples, from_first_rows(samples, 13, 30)}});
}

// Sizes around those of SIMD vectors, blocks and tiles.
void odd_small_sizes(const Context& context) {
  std::vector<NamedFit> fits;
  for (const std::int64_t n : {1, 2, 3, 5, 17}) {
    for (const std::int64_t d : {1, 2, 3, 5, 7, 17, 33}) {
      for (const std::int64_t k : {1, 2, 3, 7, 17}) {
        if (k > n) continue;
        const auto seed = static_cast<std::uint64_t>(1000 * n + 10 * d + k);
        add_fit(fits, "odd sizes", rounded(cloud(n, d, seed), context.dtype()), k, 5);
      }
    }
  }
  verify_fits(context, fits);
}

void odd_large_sizes(const Context& context) {
  struct Size {
    std::int64_t n, d, k;
  };
  std::vector<NamedFit> fits;
  for (const auto& [n, d, k] :
       {Size{1000, 1, 31}, Size{1000, 2, 7}, Size{1000, 33, 3}, Size{1000, 17, 31},
        Size{4097, 1, 3}, Size{4097, 2, 31}, Size{4097, 3, 2}, Size{4097, 5, 1}, Size{4097, 7, 7},
        Size{10007, 2, 2}, Size{10007, 3, 31}, Size{10007, 33, 7}, Size{1501, 5, 130},
        Size{1030, 40, 97}, Size{2003, 131, 7}}) {
    const auto seed = static_cast<std::uint64_t>(n + 100 * d + k);
    add_fit(fits, "odd sizes", rounded(cloud(n, d, seed), context.dtype()), k, 3);
  }
  verify_fits(context, fits);
}

// Features at the ends of vectors and tiles, and the last ones: those whose index is a power of two
// or one less, from 128 on, and the last two.
std::vector<std::int64_t> boundary_features(std::int64_t d) {
  std::vector<std::int64_t> features{d - 2, d - 1};
  for (std::int64_t power = 128; power < d; power *= 2) {
    for (const std::int64_t j : {power - 1, power}) {
      if (j < d - 2) features.push_back(j);
    }
  }
  return features;
}

// Rows in which one feature decides: each centroid differs from the first one in one of the
// boundary features, and each sample is one of the centroids with small noise. A kernel that leaves
// out such a feature gives its samples to the first cluster. Values are small integers, and the
// differences exceed what an accuracy of float32 allows.
NamedFit decided_by_boundary_features(std::int64_t d) {
  constexpr double kDifference = 64;
  constexpr std::int64_t kSamplesPerCluster = 2;
  const std::vector<std::int64_t> features = boundary_features(d);
  Setting setting;
  setting.clusters = static_cast<std::int64_t>(features.size()) + 1;
  setting.max_iterations = 1;
  setting.fixed = true;
  const Samples base = lattice(1, d, 1, static_cast<std::uint64_t>(d));
  Samples samples = lattice(kSamplesPerCluster * setting.clusters, d, 1, 4);
  for (std::int64_t c = 0; c < setting.clusters; ++c) {
    setting.centroids.insert(setting.centroids.end(), base.values.begin(), base.values.end());
    if (c > 0) setting.centroids[c * d + features[c - 1]] += kDifference;
  }
  for (std::int64_t i = 0; i < samples.n; ++i) {
    const double* centroid = setting.centroids.data() + i % setting.clusters * d;
    for (std::int64_t j = 0; j < d; ++j) samples.values[i * d + j] += centroid[j];
  }
  return {"one feature decides", std::move(samples), std::move(setting)};
}

// Kernels divide rows of many features into vectors, tiles and the rest. limits/supports tests the
// last one of more features.
void every_feature_counts(const Context& context) {
  std::vector<NamedFit> fits;
  for (const std::int64_t d : {257, 520, 1030}) fits.push_back(decided_by_boundary_features(d));
  verify_fits(context, fits);
}

// Near ties: all distances of a sample are equal up to the rounding of the definition's sum.
// Centroids are permutations of one vector, and each sample has the same value in all features.
// Screening in another arithmetic must fall back to the definition here.
void near_ties(const Context& context) {
  constexpr std::int64_t kFeatures = 6;
  Numbers numbers(3);
  std::vector<double> vector;
  for (int j = 0; j < kFeatures; ++j) vector.push_back(numbers.uniform() * 10 - 5);
  std::sort(vector.begin(), vector.end());
  Setting setting;
  setting.clusters = 24;
  setting.max_iterations = 1;
  setting.fixed = true;
  for (std::int64_t c = 0; c < setting.clusters; ++c) {
    setting.centroids.insert(setting.centroids.end(), vector.begin(), vector.end());
    for (int step = 0; step < 29; ++step) std::next_permutation(vector.begin(), vector.end());
  }
  Samples samples{500, kFeatures, {}};
  for (std::int64_t i = 0; i < samples.n; ++i) {
    samples.values.insert(samples.values.end(), kFeatures, numbers.uniform() * 10 - 5);
  }
  samples = rounded(samples, context.dtype());
  verify_fits(context, {{"near ties", samples, setting}});
}

}  // namespace

void add_invariant_cases(std::vector<Case>& cases) {
  cases.push_back({"invariants/separated", Scope::variants, separated, true});
  cases.push_back({"invariants/overlapping", Scope::variants, overlapping});
  cases.push_back({"invariants/odd-small-sizes", Scope::variants, odd_small_sizes});
  cases.push_back({"invariants/odd-large-sizes", Scope::variants, odd_large_sizes});
  cases.push_back({"invariants/every-feature-counts", Scope::variants, every_feature_counts});
  cases.push_back({"invariants/near-ties", Scope::variants, near_ties});
}

}  // namespace lloyd::conformance
