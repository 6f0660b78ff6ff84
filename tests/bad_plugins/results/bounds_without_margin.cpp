// Prunes distances by bounds in float64 that leave no margin for rounding, but claims exact labels.
// Hamerly's algorithm, with one lower bound per sample; with LLOYD_ELKAN Elkan's, with one per
// sample and centroid. With LLOYD_MARGIN, Hamerly's with a parameter for the margin, whose range
// includes 0.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <lloyd/plugin/plugin.hpp>

namespace {

#ifdef LLOYD_ELKAN
constexpr bool kElkan = true;
#else
constexpr bool kElkan = false;
#endif

#ifdef LLOYD_MARGIN
constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd::number_parameter("margin", 1, 0, 1000, "margin of bounds; 1 is enough"),
};
#endif

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
class PruningStep : public lloyd::StepBase {
 public:
  using value_type = T;

  PruningStep(const lloyd::DatasetView& dataset,
              [[maybe_unused]] const lloyd::ParameterList& parameters)
      : dataset_(dataset) {
#ifdef LLOYD_MARGIN
    margin_ = parameters.number("margin");
#endif
  }

  static std::int64_t estimate_bytes(const lloyd::ProblemShape& shape,
                                     const lloyd::ParameterList&) {
    const std::int64_t cells = shape.clusters * (shape.features + 1);
    return 8 * (shape.samples * (1 + bounds_per_sample(shape.clusters)) + cells);
  }

  void begin_fit(const lloyd::StepFitOptions&) {
    in_fit_ = true;
  }
  void end_fit() {
    in_fit_ = false;
    former_.clear();
  }

  void begin_pass(const double* centroids, std::int64_t clusters, const lloyd::StepPassOptions&) {
    const std::int64_t d = dataset_.features;
    centroids_ = centroids;
    clusters_ = clusters;
    prune_ = in_fit_ && !former_.empty();
    if (!in_fit_) return;
    drifts_.assign(clusters, 0.0);
    if (!prune_) {
      upper_.assign(dataset_.samples, 0.0);
      lower_.assign(dataset_.samples * bounds_per_sample(clusters), 0.0);
    }
    for (std::int64_t c = 0; prune_ && c < clusters; ++c) {
      drifts_[c] = std::sqrt(lloyd::squared_distance(&former_[c * d], centroids + c * d, d));
    }
    largest_drift_ = *std::max_element(drifts_.begin(), drifts_.end());
    former_.assign(centroids, centroids + clusters * d);
  }

  std::int64_t assign(lloyd::RowRange block, std::int32_t* labels) {
    std::int64_t changed = 0;
    for (std::int64_t i = block.begin; i < block.end; ++i, ++labels) {
      const std::int32_t label = !in_fit_ ? nearest(i)
                                 : kElkan ? elkan(i, *labels)
                                          : hamerly(i, *labels);
      changed += label != *labels;
      *labels = label;
    }
    return changed;
  }

  std::int64_t take_distances() {
    return distances_.exchange(0);
  }

 private:
  static std::int64_t bounds_per_sample(std::int64_t clusters) {
    return kElkan ? clusters : 1;
  }

  double squared(std::int64_t i, std::int64_t c) {
    ++distances_;
    const std::int64_t d = dataset_.features;
    const T* x = static_cast<const T*>(dataset_.data) + i * dataset_.stride;
    return lloyd::squared_distance(x, centroids_ + c * d, d);
  }

  std::int32_t nearest(std::int64_t i) {
    const T* x = static_cast<const T*>(dataset_.data) + i * dataset_.stride;
    return lloyd::nearest_centroid(x, centroids_, clusters_, dataset_.features).label;
  }

  std::int32_t hamerly(std::int64_t i, std::int32_t label) {
    double& upper = upper_[i];
    double& lower = lower_[i];
    if (prune_) {
      upper += drifts_[label];
      lower -= largest_drift_;
      if (upper + slack() < lower) return label;
      upper = std::sqrt(squared(i, label));
      if (upper + slack() < lower) return label;
    }
    double least = kInfinity;
    double second = kInfinity;
    for (std::int64_t c = 0; c < clusters_; ++c) {
      const double distance = squared(i, c);
      second = std::min(second, std::max(least, distance));
      if (!(distance < least)) continue;
      least = distance;
      label = static_cast<std::int32_t>(c);
    }
    upper = std::sqrt(least);
    lower = std::sqrt(second);
    if (clusters_ > 1) largest_bound_ = std::max(largest_bound_, lower);
    return label;
  }

  // 1e-10 of the largest bound is more than their rounding errors.
  double slack() const {
    return margin_ * 1e-10 * largest_bound_;
  }

  std::int32_t elkan(std::int64_t i, std::int32_t former) {
    double* lower = lower_.data() + i * clusters_;
    if (prune_) {
      upper_[i] += drifts_[former];
      bool proven = true;
      for (std::int64_t c = 0; c < clusters_; ++c) {
        lower[c] -= drifts_[c];
        proven &= c == former || upper_[i] < lower[c];
      }
      if (proven) return former;
      upper_[i] = std::sqrt(squared(i, former));
    }
    const double limit = prune_ ? upper_[i] : kInfinity;
    double least = kInfinity;
    std::int32_t label = former;
    for (std::int64_t c = 0; c < clusters_; ++c) {
      if (c != former && limit < lower[c]) continue;
      const double distance = squared(i, c);
      lower[c] = std::sqrt(distance);
      if (!(distance < least)) continue;
      least = distance;
      label = static_cast<std::int32_t>(c);
    }
    upper_[i] = std::sqrt(least);
    return label;
  }

  lloyd::DatasetView dataset_;
  const double* centroids_ = nullptr;
  std::int64_t clusters_ = 0;
  bool in_fit_ = false;
  bool prune_ = false;          // the bounds belong to the former pass of this fit
  std::vector<double> former_;  // centroids of the former pass of this fit, k x d
  std::vector<double> drifts_;  // k
  double largest_drift_ = 0;
  double margin_ = 0;
  double largest_bound_ = 0;   // of any sample so far
  std::vector<double> upper_;  // n
  std::vector<double> lower_;  // n x bounds_per_sample
  std::atomic<std::int64_t> distances_{0};
};

constexpr lloyd::BackendInfo kInfo = [] {
  lloyd::BackendInfo info = lloyd::exact_step_info("a fixture of the tests");
  info.algorithm = kElkan ? "elkan" : "hamerly";
#ifdef LLOYD_MARGIN
  info.set_parameters(kParameters);
#endif
  return info;
}();

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<PruningStep, kInfo>);
