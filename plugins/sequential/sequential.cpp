// The baseline: textbook loops on one thread.
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include <lloyd/plugin/plugin.hpp>

namespace {

enum Layout : std::int64_t { kAos = 0, kSoa = 1 };
constexpr const char* kLayouts[] = {"aos", "soa"};
constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd::choice_parameter("layout", kLayouts,
                            "aos: samples in place; soa: a copy with each feature contiguous"),
};

constexpr lloyd::BackendInfo kInfo = {
    .summary = "one thread, textbook loops: the baseline",
    .algorithm = "lloyd",
    .capabilities = lloyd::kStepCapabilities | lloyd::kCapabilityRowWindows,
    .accuracy = lloyd::Accuracy::float32,
    .accuracy_float64 = lloyd::Accuracy::exact,
    .reproducibility = lloyd::Reproducibility::threads,
    .reproducibility_float64 = lloyd::Reproducibility::canonical,
    .preference = 10,
    .reproducibility_reason = "distances of float32 samples are computed in float32",
    .parameters = kParameters,
    .parameter_count = std::ssize(kParameters),
};

// One assignment, by textbook loops. Feature j of row i is x[i*row_stride + j*feature_stride].
// Distances are computed in Real. Returns the number of changed labels.
template <class T, class Real>
std::int64_t assign_rows(const T* x, std::int64_t row_stride, std::int64_t feature_stride,
                         std::int64_t n, std::int64_t d, const Real* centroids, std::int64_t k,
                         std::int32_t* labels) {
  std::int64_t changed = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    Real lowest = std::numeric_limits<Real>::infinity();
    std::int32_t nearest = 0;
    for (std::int64_t c = 0; c < k; ++c) {
      Real distance = 0;
      for (std::int64_t j = 0; j < d; ++j) {
        const Real difference =
            static_cast<Real>(x[i * row_stride + j * feature_stride]) - centroids[c * d + j];
        distance += difference * difference;
      }
      if (distance < lowest) {
        lowest = distance;
        nearest = static_cast<std::int32_t>(c);
      }
    }
    changed += labels[i] != nearest;
    labels[i] = nearest;
  }
  return changed;
}

template <class T>
class SequentialStep : public lloyd::StepBase {
 public:
  using value_type = T;

  SequentialStep(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters)
      // Rows that come in windows stay in place: a copy would hold them all in memory.
      : dataset_(dataset),
        range_(dataset),
        soa_(parameters.choice("layout") == kSoa && dataset.data != nullptr) {
    if (!soa_) return;
    columns_.resize(static_cast<std::size_t>(dataset.samples * dataset.features));
    for (std::int64_t i = 0; i < dataset.samples; ++i) {
      for (std::int64_t j = 0; j < dataset.features; ++j) {
        columns_[static_cast<std::size_t>(j * dataset.samples + i)] = row(i)[j];
      }
    }
  }

  static std::int64_t estimate_bytes(const lloyd::ProblemShape& shape,
                                     const lloyd::ParameterList& parameters) {
    const bool soa = parameters.choice("layout") == kSoa;
    const std::int64_t data = soa ? shape.samples * shape.features * sizeof(T) : 0;
    return data + shape.clusters * shape.features * static_cast<std::int64_t>(sizeof(T));
  }

  void begin_pass(const double* centroids, std::int64_t clusters, const lloyd::StepPassOptions&) {
    clusters_ = clusters;
    exact_centroids_ = centroids;
    // float64 samples are always compared in float64, as the definition requires.
    in_sample_type_ = sizeof(T) == sizeof(double) || range_.covers(centroids, clusters);
    centroids_.assign(centroids, centroids + clusters * dataset_.features);
  }

  void use_samples(const void* data, lloyd::RowRange) { dataset_.data = data; }

  std::int64_t assign(lloyd::RowRange block, std::int32_t* labels) const {
    if (in_sample_type_) return assign_in(block, centroids_.data(), labels);
    return assign_in(block, exact_centroids_, labels);
  }

 private:
  const T* row(std::int64_t i) const {
    return static_cast<const T*>(dataset_.data) + i * dataset_.stride;
  }

  template <class Real>
  std::int64_t assign_in(lloyd::RowRange block, const Real* centroids, std::int32_t* labels) const {
    if (soa_) {
      return assign_rows(columns_.data() + block.begin, 1, dataset_.samples, block.size(),
                         dataset_.features, centroids, clusters_, labels);
    }
    return assign_rows(row(block.begin), dataset_.stride, 1, block.size(), dataset_.features,
                       centroids, clusters_, labels);
  }

  lloyd::DatasetView dataset_;
  lloyd::Float32Range range_;
  bool soa_;
  std::vector<T> columns_;  // d x n, for layout soa
  std::int64_t clusters_ = 0;
  const double* exact_centroids_ = nullptr;
  std::vector<T> centroids_;  // k x d, rounded to T
  bool in_sample_type_ = true;
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<SequentialStep, kInfo>);
