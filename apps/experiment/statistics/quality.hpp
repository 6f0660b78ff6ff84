// No speedup without quality: decides whether the times of two results may be compared.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <lloyd/plugin/abi/types.hpp>

#include "experiment/statistics/bootstrap.hpp"

namespace lloyd::experiment {

/// The quality of the results of one setting with one variant.
struct Quality {
  Accuracy accuracy = Accuracy::exact;  ///< as the backend states it
  std::int64_t samples = 0;
  double inertia_after_one = std::numeric_limits<double>::quiet_NaN();
  std::int64_t wrong_labels = 0;  ///< after one iteration, among the compared ones
  double final_inertia = std::numeric_limits<double>::quiet_NaN();
  /// Number of labels that were compared after one iteration; not set: all.
  std::optional<std::int64_t> checked_labels = std::nullopt;
  bool canonical = false;       ///< the backend states that it returns the bits of the reference
  std::int64_t iterations = 0;  ///< of every fit; 0: they differ, or are unknown
};

/// Maximum relative difference of the inertias after one iteration from the common start, for exact
/// and float32 backends.
inline constexpr double kToleranceAfterOne = 1e-6;
/// Maximum relative difference of the final inertias. It is loose because Lloyd's iteration is
/// chaotic: tiny differences grow.
inline constexpr double kToleranceFinal = 0.02;
/// Maximum relative difference of the final inertias of two canonical backends, which sum the same
/// distances: the contract allows each 1e-12.
inline constexpr double kToleranceCanonical = 1e-11;

struct Comparison {
  /// Baseline's time divided by this variant's, if quality permits the comparison.
  std::optional<MedianInterval> speedup;
  std::string text;  ///< the speedup with its caveats, or the difference in quality
  /// The part of `text` that states the accuracy of the baseline's labels, if they are less
  /// accurate: " over float32". Else empty.
  std::string over = {};
  bool less_accurate = false;  ///< no speedup because the variant declares less accurate labels
};

/// Returns the difference in quality that forbids a comparison of times; empty if there is none.
std::string quality_difference(const Quality& result, const Quality& baseline);

/// Returns the difference between two results of the same fits that are impossible if both backends
/// are canonical, as they state: iterations or final inertia. Empty if there is none.
std::string canonical_difference(const Quality& result, const Quality& baseline);

/// Compares a result with the baseline's of the same run; reports `speedup` only if quality permits
/// it.
Comparison compare(const Quality& result, const Quality& baseline, const MedianInterval& speedup);

/// "2.31 (2.25 - 2.38)", or "2.31" if the interval is a single point.
std::string ratio_text(const MedianInterval& ratio);

}  // namespace lloyd::experiment
