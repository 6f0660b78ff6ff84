// ShewchukSum: correctly rounded sums by another method than ExactSum's, as an oracle.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace lloyd {

/// Keeps the sum as non-overlapping partial sums, as Python's math.fsum does. Sums must not come
/// near the limit of float64's range. Source: J. R. Shewchuk, "Adaptive precision floating-point
/// arithmetic and fast robust geometric predicates", 1997.
class ShewchukSum {
 public:
  void add(double value) {
    std::size_t kept = 0;
    for (double partial : partials_) {
      if (std::abs(value) < std::abs(partial)) std::swap(value, partial);
      const double high = value + partial;
      const double low = partial - (high - value);
      if (low != 0) partials_[kept++] = low;
      value = high;
    }
    partials_.resize(kept);
    partials_.push_back(value);
  }

  double value() const {
    std::size_t remaining = partials_.size();
    if (remaining == 0) return 0;
    double high = partials_[--remaining];
    double low = 0;
    while (remaining > 0 && low == 0) {
      const double former = high;
      const double partial = partials_[--remaining];
      high = former + partial;
      low = partial - (high - former);
    }
    // If `low` is half a unit, the sign of the partials below it decides the rounding.
    if (remaining > 0 && low != 0 && std::signbit(low) == std::signbit(partials_[remaining - 1])) {
      const double twice = low * 2;
      const double next = high + twice;
      if (next - high == twice) high = next;
    }
    return high;
  }

 private:
  std::vector<double> partials_;  // ascending magnitude; only the last can be zero
};

}  // namespace lloyd
