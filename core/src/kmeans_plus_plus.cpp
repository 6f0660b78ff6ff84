#include "kmeans_plus_plus.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_set>

#include <lloyd/error.hpp>
#include <lloyd/plugin/distance.hpp>
#include <lloyd/plugin/float_environment.hpp>

namespace lloyd {
namespace {

// Turns squared distances up to a maximum into integers whose sum over n samples fits 63 bits.
class WeightScale {
 public:
  WeightScale(double largest, std::int64_t samples) {
    // distance < 2^(ilogb + 1) and n < 2^bit_width, so that the sum is below 2^63.
    const int exponent = 62 - std::ilogb(largest) -
                         static_cast<int>(std::bit_width(static_cast<std::uint64_t>(samples)));
    // 2^exponent alone may lie beyond float64 where the distances are denormal.
    first_ = std::ldexp(1.0, exponent / 2);
    second_ = std::ldexp(1.0, exponent - exponent / 2);
  }

  std::int64_t weight(double squared_distance) const {
    return static_cast<std::int64_t>(squared_distance * first_ * second_);
  }

 private:
  double first_;
  double second_;
};

// Distances to two candidates, side by side in a vector register of any machine.
typedef double Pair __attribute__((vector_size(16)));

template <class T>
class KMeansPlusPlus {
 public:
  KMeansPlusPlus(const Matrix& matrix, const RandomStream& stream)
      : matrix_(matrix),
        stream_(stream),
        nearest_(static_cast<std::size_t>(matrix.rows), std::numeric_limits<double>::infinity()),
        block_weights_(static_cast<std::size_t>((matrix.rows + kBlockRows - 1) / kBlockRows)) {}

  std::vector<std::int64_t> choose(std::int64_t clusters, const StopFunction& stop) {
    const std::int64_t candidate_count = kmeans_plus_plus_candidates(clusters);
    const auto n = static_cast<std::uint64_t>(matrix_.rows);
    add_centre(static_cast<std::int64_t>(stream_.below(n, draws_++)));
    std::vector<std::int64_t> candidates(static_cast<std::size_t>(candidate_count));
    std::vector<std::int64_t> potentials(candidates.size());
    while (static_cast<std::int64_t>(centres_.size()) < clusters && largest_ > 0) {
      if (stop && stop()) throw Cancelled();
      const WeightScale scale(largest_, matrix_.rows);
      const std::uint64_t total = weigh(scale);
      for (auto& candidate : candidates) candidate = find(stream_.below(total, draws_++), scale);
      for (std::size_t c = 0; c < candidates.size(); c += kWidest) {
        const std::size_t width = std::min(kWidest, candidates.size() - c);
        add_up(candidates.data() + c, width, scale, potentials.data() + c);
      }
      const auto best = std::min_element(potentials.begin(), potentials.end());
      add_centre(candidates[static_cast<std::size_t>(best - potentials.begin())]);
    }
    add_lowest_unchosen(clusters);
    return centres_;
  }

 private:
  static constexpr std::int64_t kBlockRows = 4096;
  static constexpr std::size_t kWidest = 8;  // candidates in one pass

  const T* row(std::int64_t i) const {
    return static_cast<const T*>(matrix_.data) + i * matrix_.stride;
  }

  void add_centre(std::int64_t index) {
    centres_.push_back(index);
    const std::vector<double> centre(row(index), row(index) + matrix_.columns);
    largest_ = 0;
    for (std::int64_t i = 0; i < matrix_.rows; ++i) {
      double& nearest = nearest_[static_cast<std::size_t>(i)];
      nearest = std::min(nearest, squared_distance(row(i), centre.data(), matrix_.columns));
      largest_ = std::max(largest_, nearest);
    }
  }

  // Weights of all samples, summed by blocks of rows. Returns their total.
  std::uint64_t weigh(const WeightScale& scale) {
    std::uint64_t total = 0;
    for (std::size_t block = 0; block < block_weights_.size(); ++block) {
      const std::int64_t begin = static_cast<std::int64_t>(block) * kBlockRows;
      const std::int64_t end = std::min(begin + kBlockRows, matrix_.rows);
      std::uint64_t sum = 0;
      for (std::int64_t i = begin; i < end; ++i) sum += weight(i, scale);
      block_weights_[block] = sum;
      total += sum;
    }
    return total;
  }

  std::uint64_t weight(std::int64_t i, const WeightScale& scale) const {
    return static_cast<std::uint64_t>(scale.weight(nearest_[static_cast<std::size_t>(i)]));
  }

  // The sample in whose part of the cumulated weights `position` falls.
  std::int64_t find(std::uint64_t position, const WeightScale& scale) const {
    std::size_t block = 0;
    while (position >= block_weights_[block]) position -= block_weights_[block++];
    std::int64_t i = static_cast<std::int64_t>(block) * kBlockRows;
    for (std::uint64_t w = weight(i, scale); position >= w; w = weight(i, scale)) {
      position -= w;
      ++i;
    }
    return i;
  }

  void add_up(const std::int64_t* candidates, std::size_t width, const WeightScale& scale,
              std::int64_t* potentials) const {
    switch ((width + 1) / 2) {
      case 1:
        return add_up<1>(candidates, width, scale, potentials);
      case 2:
        return add_up<2>(candidates, width, scale, potentials);
      case 3:
        return add_up<3>(candidates, width, scale, potentials);
      default:
        return add_up<kWidest / 2>(candidates, width, scale, potentials);
    }
  }

  // Potentials with each of up to 2 x Pairs candidates as the next centre, in one pass over the
  // data. Each distance sums over ascending features, as squared_distance() does.
  template <std::size_t Pairs>
  void add_up(const std::int64_t* candidates, std::size_t width, const WeightScale& scale,
              std::int64_t* potentials) const {
    const auto d = static_cast<std::size_t>(matrix_.columns);
    std::vector<Pair> coordinates(d * Pairs);  // feature by feature; a spare place stays zero
    for (std::size_t c = 0; c < width; ++c) {
      for (std::size_t j = 0; j < d; ++j) {
        coordinates[j * Pairs + c / 2][c % 2] = static_cast<double>(row(candidates[c])[j]);
      }
    }
    std::array<std::int64_t, 2 * Pairs> sums{};
    for (std::int64_t i = 0; i < matrix_.rows; ++i) {
      const T* x = row(i);
      const Pair* coordinate = coordinates.data();
      std::array<Pair, Pairs> distances{};
      for (std::size_t j = 0; j < d; ++j, coordinate += Pairs) {
        const auto value = static_cast<double>(x[j]);
        for (std::size_t p = 0; p < Pairs; ++p) {
          const Pair difference = value - coordinate[p];
          distances[p] += difference * difference;
        }
      }
      const double nearest = nearest_[static_cast<std::size_t>(i)];
      for (std::size_t c = 0; c < 2 * Pairs; ++c) {
        sums[c] += scale.weight(std::min(nearest, distances[c / 2][c % 2]));
      }
    }
    std::copy_n(sums.begin(), width, potentials);
  }

  // The data has fewer distinct samples than centres are wanted.
  void add_lowest_unchosen(std::int64_t clusters) {
    const std::unordered_set<std::int64_t> chosen(centres_.begin(), centres_.end());
    for (std::int64_t i = 0; static_cast<std::int64_t>(centres_.size()) < clusters; ++i) {
      if (!chosen.contains(i)) centres_.push_back(i);
    }
  }

  const Matrix& matrix_;
  const RandomStream& stream_;
  std::uint64_t draws_ = 0;
  std::vector<std::int64_t> centres_;
  std::vector<double> nearest_;  // squared distance of each sample to its nearest centre
  double largest_ = 0;           // of those
  std::vector<std::uint64_t> block_weights_;
};

}  // namespace

std::int64_t kmeans_plus_plus_candidates(std::int64_t clusters) {
  // The least integers whose natural logarithm is at least 1, 2, ...: no logarithm is rounded.
  constexpr std::array<std::int64_t, 22> kPowersOfE = {
      3,        8,        21,        55,        149,        404,       1097,    2981,
      8104,     22027,    59875,     162755,    442414,     1202605,   3269018, 8886111,
      24154953, 65659970, 178482301, 485165196, 1318815735, 3584912847};
  return 2 +
         (std::upper_bound(kPowersOfE.begin(), kPowersOfE.end(), clusters) - kPowersOfE.begin());
}

std::vector<std::int64_t> kmeans_plus_plus(const Matrix& matrix, std::int64_t clusters,
                                           const RandomStream& stream, const StopFunction& stop) {
  const FloatEnvironment environment;
  return matrix.dtype == DType::float32
             ? KMeansPlusPlus<float>(matrix, stream).choose(clusters, stop)
             : KMeansPlusPlus<double>(matrix, stream).choose(clusters, stop);
}

}  // namespace lloyd
