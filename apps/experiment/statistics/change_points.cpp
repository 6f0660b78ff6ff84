#include "experiment/statistics/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <lloyd/random.hpp>

#include "experiment/statistics/statistics.hpp"
#include "experiment/statistics/verdict.hpp"

namespace lloyd::experiment {
namespace {

constexpr std::size_t kMinSide = 2;
constexpr int kPermutations = 999;

// The values [0, at) and [at, end); values from `end` on are ignored.
struct Split {
  std::size_t at = 0;
  std::size_t end = 0;
  double energy = -1;
};

double pairs(std::size_t count) {
  return static_cast<double>(count * (count - 1)) / 2;
}

// Sums of |x - y| over pairs of values.
class DistanceSums {
 public:
  explicit DistanceSums(std::span<const double> values)
      : width_(values.size() + 1), sums_(width_ * width_) {
    for (std::size_t i = 1; i < width_; ++i) {
      double row = 0;
      for (std::size_t j = 1; j < width_; ++j) {
        row += std::abs(values[i - 1] - values[j - 1]);
        sums_[i * width_ + j] = sums_[(i - 1) * width_ + j] + row;
      }
    }
  }

  // Over the pairs of a value in [0, i) and a value in [0, j).
  double at(std::size_t i, std::size_t j) const { return sums_[i * width_ + j]; }

 private:
  std::size_t width_;
  std::vector<double> sums_;
};

// The split with the largest energy statistic m n / (m + n) (2 E|x - y| - E|x - x'| - E|y - y'|),
// where m and n are the sizes of both sides (section 2.2 of Matteson and James).
Split best_split(std::span<const double> values) {
  const DistanceSums sums(values);
  Split best;
  for (std::size_t at = kMinSide; at + kMinSide <= values.size(); ++at) {
    const double left = sums.at(at, at) / 2;
    for (std::size_t end = at + kMinSide; end <= values.size(); ++end) {
      const double across = sums.at(at, end) - sums.at(at, at);
      const double right = (sums.at(end, end) - sums.at(at, at)) / 2 - across;
      const auto m = static_cast<double>(at);
      const auto n = static_cast<double>(end - at);
      const double energy =
          m * n / (m + n) * (2 * across / (m * n) - left / pairs(at) - right / pairs(end - at));
      if (energy > best.energy) best = {at, end, energy};
    }
  }
  return best;
}

// True if few random orders of the values have a split as good.
bool is_significant(std::span<const double> values, const Split& split) {
  std::vector<double> shuffled(values.begin(), values.end());
  // Sums in another order round differently.
  const double reached = split.energy * (1 - 1e-9);
  int as_good = 1;  // the order as it is
  for (int permutation = 0; permutation < kPermutations; ++permutation) {
    const RandomStream random(0, static_cast<std::uint64_t>(permutation));
    for (std::size_t i = shuffled.size(); i > 1; --i) {
      std::swap(shuffled[i - 1], shuffled[random.below(i, i)]);
    }
    as_good += best_split(shuffled).energy >= reached;
    if (as_good > kChangeLevel * (kPermutations + 1)) return false;
  }
  return true;
}

bool is_large(std::span<const double> logarithms, const Split& split) {
  const std::span<const double> before = logarithms.first(split.at);
  const std::span<const double> after = logarithms.subspan(split.at, split.end - split.at);
  return std::abs(median({after.begin(), after.end()}) - median({before.begin(), before.end()})) >
         std::log(1 + kSameMargin);
}

void divide(std::span<const double> logarithms, std::size_t first,
            std::vector<std::size_t>& changes) {
  if (logarithms.size() < kMinRunsForChange) return;
  const Split split = best_split(logarithms);
  if (!(split.energy > 0) || !is_large(logarithms, split)) return;
  if (!is_significant(logarithms, split)) return;
  divide(logarithms.first(split.at), first, changes);
  changes.push_back(first + split.at);
  divide(logarithms.subspan(split.at), first + split.at, changes);
}

}  // namespace

std::vector<std::size_t> change_points(const std::vector<double>& values) {
  std::vector<double> logarithms;
  for (const double value : values) logarithms.push_back(std::log(value));
  std::vector<std::size_t> changes;
  divide(logarithms, 0, changes);
  return changes;
}

}  // namespace lloyd::experiment
