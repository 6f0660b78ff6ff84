// cuda-elkan's passes, written for the host with the same bounds. Compares the labels with those of
// all distances over several iterations, for bounds per centroid and per group.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/plugin/sdk/distance.hpp>

#include "cuda-elkan/bounds.hpp"

namespace lloyd_cuda_elkan {
namespace {

using Vector = std::vector<double>;

struct Problem {
  std::int64_t n, d, k;
  Vector samples;
  Vector centroids;

  const double* sample(std::int64_t i) const { return samples.data() + i * d; }
};

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// The work of screen.cu, scan.cu, moves.cu and assign_all.cu, one sample at a time.
class HostElkan {
 public:
  HostElkan(const Problem& problem, std::int64_t group_size)
      : p_(problem),
        size_(group_size),
        groups_((problem.k + group_size - 1) / group_size),
        labels(at(problem.n), -1),
        upper_(at(problem.n)),
        lower_(at(problem.n)),
        bounds_(at(problem.n * groups_)),
        total_(at(problem.k)),
        group_total_(at(groups_)) {}

  void assign_all(const Vector& c) {
    for (std::int64_t i = 0; i < p_.n; ++i) {
      NearestTwo nearest;
      nearest.label = 0;
      for (std::int64_t g = 0; g < groups_; ++g) {
        NearestTwo group;
        for (std::int64_t m = g * size_; m < std::min(p_.k, (g + 1) * size_); ++m) {
          group.add_in_group(distance(i, c, m), static_cast<int>(m));
        }
        bound(i, g) = store_lower(lower_bound(group.first), drift_of_group(g));
        nearest.merge(group);
      }
      const std::int64_t own = nearest.label / size_;
      bound(i, own) = store_lower(lower_bound(nearest.in_group), drift_of_group(own));
      keep(i, nearest.label, nearest.first, lower_bound(nearest.second));
    }
  }

  void move(const Vector& from, const Vector& to) {
    Vector farthest(at(groups_));
    double farthest_of_all = 0;
    for (std::int64_t m = 0; m < p_.k; ++m) {
      const double way =
          upper_bound(lloyd::squared_distance(from.data() + m * p_.d, to.data() + m * p_.d, p_.d));
      total_[at(m)] = add_up(total_[at(m)], way);
      farthest[at(m / size_)] = std::max(farthest[at(m / size_)], way);
      farthest_of_all = std::max(farthest_of_all, way);
    }
    for (std::int64_t g = 0; g < groups_; ++g) {
      group_total_[at(g)] = add_up(group_total_[at(g)], farthest[at(g)]);
    }
    total_of_all_ = add_up(total_of_all_, farthest_of_all);
    apart_.assign(at(p_.k * groups_), std::numeric_limits<float>::max());
    for (std::int64_t a = 0; a < p_.k; ++a) {
      for (std::int64_t m = 0; m < p_.k; ++m) {
        if (m == a) continue;
        float& least = apart_[at(a * groups_ + m / size_)];
        least = std::min(least, lower_bound(lloyd::squared_distance(to.data() + a * p_.d,
                                                                    to.data() + m * p_.d, p_.d)));
      }
    }
  }

  void assign(const Vector& c) {
    for (std::int64_t i = 0; i < p_.n; ++i) {
      if (settled(i, upper_now(upper_[at(i)], round_outward(total_[at(labels[at(i)])])))) continue;
      const double own = distance(i, c, labels[at(i)]);
      if (settled(i, upper_bound(own))) {
        upper_[at(i)] = store_upper(upper_bound(own), round_outward(total_[at(labels[at(i)])]));
        continue;
      }
      scan(i, c, own);
    }
  }

 private:
  const Problem& p_;
  std::int64_t size_;
  std::int64_t groups_;

 public:
  std::vector<std::int32_t> labels;
  std::int64_t distances = 0;

 private:
  double distance(std::int64_t i, const Vector& c, std::int64_t m) {
    ++distances;
    return lloyd::squared_distance(p_.sample(i), c.data() + m * p_.d, p_.d);
  }
  float& bound(std::int64_t i, std::int64_t g) { return bounds_[at(i * groups_ + g)]; }
  Drift drift_of_group(std::int64_t g) const { return round_outward(group_total_[at(g)]); }

  void keep(std::int64_t i, int label, double first, float lower) {
    labels[at(i)] = label;
    upper_[at(i)] = store_upper(upper_bound(first), round_outward(total_[at(label)]));
    lower_[at(i)] = store_lower(lower, round_outward(total_of_all_));
  }

  bool settled(std::int64_t i, float upper) const {
    const auto row = apart_.begin() + labels[at(i)] * groups_;
    const float across = lower_across(*std::min_element(row, row + groups_), upper);
    const float lower = lower_now(lower_[at(i)], round_outward(total_of_all_));
    return std::fmax(lower, across) > exclusion_limit(upper);
  }

  void scan(std::int64_t i, const Vector& c, double own) {
    const std::int32_t a = labels[at(i)];
    const float upper = upper_bound(own);
    float limit = exclusion_limit(upper);
    float excluded = std::numeric_limits<float>::max();
    NearestTwo others;
    for (std::int64_t g = 0; g < groups_; ++g) {
      if (size_ == 1 && g == a) continue;
      const float lower = std::fmax(lower_now(bound(i, g), drift_of_group(g)),
                                    lower_across(apart_[at(a * groups_ + g)], upper));
      if (lower > limit) {
        excluded = std::min(excluded, lower);
        continue;
      }
      NearestTwo group;
      for (std::int64_t m = g * size_; m < std::min(p_.k, (g + 1) * size_); ++m) {
        if (m != a) group.add_in_group(distance(i, c, m), static_cast<int>(m));
      }
      bound(i, g) = store_lower(lower_bound(group.first), drift_of_group(g));
      others.merge(group);
      limit = exclusion_limit(upper_bound(std::min(own, others.first)));
    }
    const bool changed = others.first < own || (others.first == own && others.label < a);
    if (!changed) {
      keep(i, a, own, std::min(excluded, lower_bound(others.first)));
      return;
    }
    keep(i, others.label, others.first,
         std::min(excluded, lower_bound(std::min(others.second, own))));
    const std::int64_t joined = a / size_;
    const std::int64_t left = others.label / size_;
    const double in_left = joined == left ? std::min(others.in_group, own) : others.in_group;
    bound(i, left) = store_lower(lower_bound(in_left), drift_of_group(left));
    if (joined == left) return;
    const float fresh = store_lower(lower_bound(own), drift_of_group(joined));
    bound(i, joined) = size_ == 1 ? fresh : std::min(bound(i, joined), fresh);
  }

  std::vector<float> upper_, lower_, bounds_, apart_;
  Vector total_, group_total_;
  double total_of_all_ = 0;
};

Vector means(const Problem& p, const std::vector<std::int32_t>& labels, const Vector& centroids) {
  Vector sums(centroids.size());
  std::vector<int> counts(at(p.k));
  for (std::int64_t i = 0; i < p.n; ++i) {
    ++counts[at(labels[at(i)])];
    for (std::int64_t j = 0; j < p.d; ++j) {
      sums[at(labels[at(i)] * p.d + j)] += p.sample(i)[j];
    }
  }
  Vector next = centroids;
  for (std::int64_t m = 0; m < p.k; ++m) {
    for (std::int64_t j = 0; counts[at(m)] > 0 && j < p.d; ++j) {
      next[at(m * p.d + j)] = sums[at(m * p.d + j)] / counts[at(m)];
    }
  }
  return next;
}

// Runs iterations and compares all labels after each; returns the share of computed distances.
double run(const Problem& p, std::int64_t group_size, const std::string& what) {
  constexpr int kIterations = 12;
  HostElkan elkan(p, group_size);
  Vector centroids = p.centroids;
  Vector former;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    if (iteration == 0) {
      elkan.assign_all(centroids);
    } else {
      elkan.move(former, centroids);
      elkan.assign(centroids);
    }
    for (std::int64_t i = 0; i < p.n; ++i) {
      const lloyd::Nearest nearest =
          lloyd::nearest_centroid(p.sample(i), centroids.data(), p.k, p.d);
      if (elkan.labels[at(i)] != nearest.label) {
        ADD_FAILURE() << what << ", groups of " << group_size << ", iteration " << iteration
                      << ": sample " << i << " has label " << elkan.labels[at(i)] << ", not "
                      << nearest.label;
        return 1;
      }
    }
    former = centroids;
    centroids = means(p, elkan.labels, centroids);
  }
  return static_cast<double>(elkan.distances) / static_cast<double>(p.n * p.k * kIterations);
}

Problem blobs(std::int64_t n, std::int64_t d, std::int64_t k, double deviation, int seed) {
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(-10, 10);
  Problem p{n, d, k, Vector(at(n * d)), {}};
  Vector centres(at(k * d));
  for (double& value : centres) value = uniform(random);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t of = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(k));
    for (std::int64_t j = 0; j < d; ++j) {
      p.samples[at(i * d + j)] =
          static_cast<float>(centres[at(of * d + j)] + deviation * normal(random));
    }
  }
  p.centroids.assign(p.samples.begin(), p.samples.begin() + k * d);
  return p;
}

void scale(Problem& p, double factor, double shift) {
  for (double& value : p.samples) value = value * factor + shift;
  for (double& value : p.centroids) value = value * factor + shift;
}

TEST(ElkanFit, LabelsAreExactOnBlobs) {
  for (const auto& [d, k] : std::vector<std::pair<int, int>>{{1, 1}, {1, 9}, {2, 33}, {16, 40}}) {
    for (const double deviation : {0.5, 4.0}) {
      const Problem p = blobs(1000, d, k, deviation, d + k);
      for (const std::int64_t size : {1, 8, 32, 64}) run(p, size, "blobs");
    }
  }
}

TEST(ElkanFit, BoundsSaveMostDistances) {
  const Problem p = blobs(4000, 16, 64, 1.0, 5);
  EXPECT_LT(run(p, 1, "Elkan"), 0.25);
  EXPECT_LT(run(p, 8, "groups of 8"), 0.5);
  EXPECT_LT(run(p, 64, "one group"), 0.9);
}

// Samples and initial centroids on a small integer lattice, which gives many ties.
TEST(ElkanFit, TiesGoToTheLowestIndex) {
  std::mt19937_64 random(6);
  Problem p{800, 3, 30, Vector(2400), {}};
  for (double& value : p.samples) value = static_cast<double>(random() % 5);
  p.centroids.assign(p.samples.begin(), p.samples.begin() + 90);  // some of them are equal
  for (const std::int64_t size : {1, 8, 32}) run(p, size, "lattice");
}

TEST(ElkanFit, FarFromTheOriginAndAtEveryScale) {
  for (const double factor : {1e-170, 1e-155, 1e-40, 1e-18, 1e17, 1e37, 1e140}) {
    Problem p = blobs(500, 4, 20, 2.0, 7);
    scale(p, factor, 0);
    for (const std::int64_t size : {1, 8, 32}) run(p, size, "scaled by " + std::to_string(factor));
  }
  for (const double shift : {1e6, -1e9, 1e14}) {
    Problem p = blobs(500, 4, 20, 1.0, 8);
    scale(p, 1, shift);
    for (const std::int64_t size : {1, 8, 32}) run(p, size, "shifted by " + std::to_string(shift));
  }
}

// Every sample lies between two centroids, a few units in the last place off the midpoint.
TEST(ElkanFit, NearTiesAreDecidedByTheDefinition) {
  std::mt19937_64 random(9);
  constexpr std::int64_t kDimension = 6;
  Problem p = blobs(600, kDimension, 24, 1.0, 10);
  for (std::int64_t i = 0; i < p.n; ++i) {
    const auto a = static_cast<std::int64_t>(random() % 24);
    const auto b = static_cast<std::int64_t>(random() % 24);
    for (std::int64_t j = 0; j < kDimension; ++j) {
      double& value = p.samples[at(i * kDimension + j)];
      value = 0.5 * (p.centroids[at(a * kDimension + j)] + p.centroids[at(b * kDimension + j)]);
      for (std::uint64_t step = random() % 4; step > 0; --step) value = std::nextafter(value, 99.0);
    }
  }
  for (const std::int64_t size : {1, 8, 32}) run(p, size, "near-ties");
}

}  // namespace
}  // namespace lloyd_cuda_elkan
