// The shapes to measure, and their data.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/dataset.hpp>

namespace lloyd::bench {

/// A problem size: n samples of d features, k clusters.
struct Shape {
  std::int64_t samples = 0;
  std::int64_t features = 0;
  std::int64_t clusters = 0;
  auto operator<=>(const Shape&) const = default;  // NOLINT(modernize-use-nullptr)

  std::string name() const;  ///< "n:1e6/d:16/k:32"
};

/// The default shapes: from a table that fits into L1 to long rows.
std::vector<Shape> default_shapes();
/// Parses "1e6x16x32,1000x2x4". Throws InputError for anything else.
std::vector<Shape> parse_shapes(std::string_view text);

/// Overlapping blobs: k centres uniform in [-10, 10], standard deviation 2.72 sqrt(d), and k random
/// samples as initial centroids.
struct Problem {
  Problem(const Shape& shape, DType dtype);
  Dataset dataset;
  std::vector<double> start;  ///< k x d
  std::int64_t clusters() const {
    return static_cast<std::int64_t>(start.size()) / dataset.features();
  }
};

/// Makes the problem of each shape on its first use.
class Problems {
 public:
  explicit Problems(DType dtype) : dtype_(dtype) {}
  /// Valid until the next call: benchmarks run shape by shape, so a former problem is no longer
  /// used.
  const Problem& at(const Shape& shape);

 private:
  DType dtype_;
  std::map<Shape, std::unique_ptr<Problem>> kept_;
  std::set<Shape> made_;
  bool interleaved_ = false;
};

}  // namespace lloyd::bench
