// Fits on data of many shapes; every iteration is checked against the definitions.
#include <algorithm>

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
  cases.push_back({"invariants/near-ties", Scope::variants, near_ties});
}

}  // namespace lloyd::conformance
