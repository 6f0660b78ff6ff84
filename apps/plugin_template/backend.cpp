// A k-means backend that looks at as few features as it can: partial distance search.
//
// A squared distance only grows from one feature to the next. Once the part that has been added up
// for a centroid is no less than the smallest distance so far, that centroid cannot be the nearest,
// and its other features need not be looked at.
// Source: C.-D. Bei and R. M. Gray, "An improvement of the minimum distortion encoding algorithm
// for vector quantization", IEEE Transactions on Communications, 1985.
#include <algorithm>
#include <cstdint>

#include <lloyd/plugin/plugin.hpp>

namespace {

// What a user may set: name, default, least and greatest value, meaning. Values are checked before
// they come here.
constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd::integer_parameter("portion", 8, 1, 4096,
                             "features that are added up before a centroid may be given up"),
};

// What the backend claims, and the conformance suite holds it to: labels by the definition, to the
// last bit. The kernel may, because it adds in the definition's order, features ascending, and a
// rounded sum of squares never falls.
constexpr lloyd::BackendInfo kInfo = [] {
  lloyd::BackendInfo info = lloyd::exact_step_info("gives up early on centroids that are far");
  info.parameters = kParameters;
  info.parameter_count = 1;
  return info;
}();

// Made once for a data set, of float32 or float64 samples. Everything but the labels is done by
// lloyd::LloydLoop.
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
  // The squared distance where it is below `bound`; else something that is not.
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
