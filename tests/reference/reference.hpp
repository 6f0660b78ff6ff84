// The reference: an independent implementation of a fit in plain float64, for the tests. It shares
// no code with the core or the SDK, so that they cannot share a mistake.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace lloyd::reference {

/// n samples of d features, row-major without gaps. float32 values are represented exactly.
struct Samples {
  std::int64_t n = 0;
  std::int64_t d = 0;
  std::vector<double> values;

  const double* row(std::int64_t i) const { return values.data() + i * d; }
};

enum class EmptyPolicy { relocate, keep, error };
enum class Stop { labels, tolerance, max_iterations };

struct Settings {
  std::int64_t k = 0;
  std::vector<double> initial_centroids;  ///< k x d
  std::int64_t max_iterations = 0;
  bool fixed = false;    ///< run exactly max_iterations
  double tolerance = 0;  ///< absolute limit of the sum of squared shifts; 0: off
  EmptyPolicy empty = EmptyPolicy::relocate;
};

struct Update {
  std::vector<double> centroids;
  std::vector<std::int64_t> counts;   ///< samples per cluster, after relocation
  std::vector<std::int32_t> members;  ///< cluster whose sum includes the sample, after relocation
  std::int64_t relocations = 0;
};

struct Iteration {
  std::vector<std::int32_t> labels;
  std::vector<double> centroids;  ///< after the update
  std::int64_t changed = 0;
  std::int64_t relocations = 0;
  double shift = 0;
  double inertia = 0;  ///< of `labels` with the centroids before the update
};

struct Fit {
  std::vector<double> centroids;
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> counts;
  double inertia = 0;
  std::int64_t iterations = 0;
  Stop stop = Stop::max_iterations;
  std::vector<Iteration> trace;
};

/// Thrown by fit() under EmptyPolicy::error.
class EmptyCluster : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An exact sum, rounded once when it is read: to nearest, ties to even. Source: J. R. Shewchuk,
/// "Adaptive precision floating-point arithmetic and fast robust geometric predicates", 1997; the
/// final rounding is that of Python's math.fsum().
class FullSum {
 public:
  void add(double value);
  double value() const;

 private:
  // Non-overlapping, in ascending magnitude. Each is at most half a unit in the last place of the
  // next, so that 40 cover all exponents of float64.
  std::array<double, 42> partials_;
  std::size_t size_ = 0;
};

/// The indices of the samples of each of k clusters, in ascending order.
std::vector<std::vector<std::int64_t>> rows_by_cluster(const std::vector<std::int32_t>& members,
                                                       std::int64_t k);
double squared_distance(const double* x, const double* c, std::int64_t d);
std::int32_t nearest(const double* x, const std::vector<double>& centroids, std::int64_t d);
double inertia(const Samples& samples, const std::vector<double>& centroids,
               const std::vector<std::int32_t>& labels);
Update update(const Samples& samples, const std::vector<double>& centroids,
              const std::vector<std::int32_t>& labels, EmptyPolicy policy);
double shift(const std::vector<double>& from, const std::vector<double>& to);
Fit fit(const Samples& samples, const Settings& settings);

}  // namespace lloyd::reference
