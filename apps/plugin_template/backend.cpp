// A k-means backend with partial distance search, which skips features where it can.
//
// The partial sum of a squared distance never decreases from one feature to the next. Once the
// partial sum for a centroid reaches the smallest distance so far, that centroid cannot be the
// nearest, and its remaining features are skipped.
// Source: C.-D. Bei and R. M. Gray, "An improvement of the minimum distortion encoding algorithm
// for vector quantization", IEEE Transactions on Communications, 1985.
#include <algorithm>
#include <cstdint>

#include <lloyd/plugin/plugin.hpp>

namespace {

// Parameters for the user: name, default, minimum, maximum, meaning. Values are checked before they
// are passed to the backend.
constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd::integer_parameter(
        "portion", 8, 1, 4096,
        "features summed before each check whether the distance is already too large"),
};

// Properties that the backend declares and the conformance suite tests. exact_step_info() declares
// labels that are exact by the definition. That holds because the kernel adds in the definition's
// order (features ascending), and rounded partial sums of squares never decrease.
constexpr lloyd::BackendInfo kInfo = [] {
  lloyd::BackendInfo info = lloyd::exact_step_info("partial distance search, one thread");
  info.set_parameters(kParameters);
  return info;
}();

// Constructed once for each data set, of float32 or float64 samples. It computes the labels;
// lloyd::LloydLoop does the rest.
template <class T>
class PartialDistanceStep : public lloyd::RowStep<PartialDistanceStep<T>, T> {
 public:
  PartialDistanceStep(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters)
      : lloyd::RowStep<PartialDistanceStep<T>, T>(dataset, parameters),
        portion_(parameters.integer("portion")) {}

  // The kernel: the nearest centroid to one sample; ties go to the lowest index.
  std::int32_t label(const T* x) const {
    const std::int64_t d = this->dataset.features;
    lloyd::Nearest nearest{0, lloyd::squared_distance(x, this->centroids, d)};
    for (std::int64_t c = 1; c < this->clusters; ++c) {
      const double distance =
          distance_below(nearest.squared_distance, x, this->centroids + c * d, d);
      if (distance < nearest.squared_distance) nearest = {static_cast<std::int32_t>(c), distance};
    }
    return nearest.label;
  }

 private:
  // The squared distance if it is below `bound`; else any value >= `bound`.
  double distance_below(double bound, const T* x, const double* centroid, std::int64_t d) const {
    double sum = 0;
    for (std::int64_t begin = 0; begin < d && sum < bound; begin += portion_) {
      const std::int64_t end = std::min(begin + portion_, d);
      for (std::int64_t j = begin; j < end; ++j) {
        const double difference = static_cast<double>(x[j]) - centroid[j];
        sum += difference * difference;
      }
    }
    return sum;
  }

  std::int64_t portion_;
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<PartialDistanceStep, kInfo>);
