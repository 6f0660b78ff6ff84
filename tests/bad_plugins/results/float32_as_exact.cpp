// Computes distances in float32 but claims exact labels. With LLOYD_SCREENS, it screens: close
// distances are computed by the definition. Its error bound is relative to the squared distance and
// leaves out the rounding of centroids, which is relative to their norm.
#include <cstdint>
#include <limits>

#include <lloyd/plugin/plugin.hpp>

namespace {

#ifdef LLOYD_SCREENS
constexpr bool kScreens = true;
#else
constexpr bool kScreens = false;
#endif

template <class T>
class RoundingStep : public lloyd::RowStep<RoundingStep<T>, T> {
 public:
  RoundingStep(const lloyd::DatasetView& view, const lloyd::ParameterList& parameters)
      : lloyd::RowStep<RoundingStep<T>, T>(view, parameters), range_(view) {}

  void begin_pass(const double* values, std::int64_t count, const lloyd::StepPassOptions& options) {
    lloyd::RowStep<RoundingStep<T>, T>::begin_pass(values, count, options);
    in_float32_ = !kScreens || range_.covers(values, count);
  }

  std::int32_t label(const T* x) const {
    constexpr float kErrorBound = 1e-5F;  // more than the rounding of a sum of a few features
    const std::int64_t d = this->dataset.features;
    float least = std::numeric_limits<float>::infinity();
    float second = least;
    std::int32_t nearest = 0;
    for (std::int64_t c = 0; in_float32_ && c < this->clusters; ++c) {
      float distance = 0;
      for (std::int64_t j = 0; j < d; ++j) {
        const float difference =
            static_cast<float>(x[j]) - static_cast<float>(this->centroids[c * d + j]);
        distance += difference * difference;
      }
      if (distance < least) {
        second = least;
        least = distance;
        nearest = static_cast<std::int32_t>(c);
      } else if (distance < second) {
        second = distance;
      }
    }
    if (!kScreens || (in_float32_ && second - least > kErrorBound * second)) return nearest;
    return lloyd::nearest_centroid(x, this->centroids, this->clusters, d).label;
  }

 private:
  lloyd::Float32Range range_;
  bool in_float32_ = false;
};

constexpr lloyd::BackendInfo kInfo = lloyd::exact_step_info("a fixture of the tests");

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<RoundingStep, kInfo>);
