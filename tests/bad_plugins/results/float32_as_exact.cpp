// Computes distances in float32 but claims exact labels.
#include <cstdint>
#include <limits>

#include <lloyd/plugin/plugin.hpp>

namespace {

template <class T>
struct RoundingStep : lloyd::RowStep<RoundingStep<T>, T> {
  using lloyd::RowStep<RoundingStep<T>, T>::RowStep;
  std::int32_t label(const T* x) const {
    const std::int64_t d = this->dataset.features;
    float least = std::numeric_limits<float>::infinity();
    std::int32_t nearest = 0;
    for (std::int64_t c = 0; c < this->clusters; ++c) {
      float distance = 0;
      for (std::int64_t j = 0; j < d; ++j) {
        const float difference =
            static_cast<float>(x[j]) - static_cast<float>(this->centroids[c * d + j]);
        distance += difference * difference;
      }
      if (distance < least) {
        least = distance;
        nearest = static_cast<std::int32_t>(c);
      }
    }
    return nearest;
  }
};

constexpr lloyd::BackendInfo kInfo = lloyd::exact_step_info("a fixture of the tests");

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<RoundingStep, kInfo>);
