// Stores a parameter in too few bits: at its maximum it becomes 0, and only the first
// centroid is compared. If LLOYD_WRAPPED is "abort" or "hang", the fit then does that.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <lloyd/plugin/plugin.hpp>

namespace {

constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd::integer_parameter("group", 8, 1, 64, "centroids that are compared at a time"),
};

constexpr lloyd::BackendInfo kInfo = [] {
  lloyd::BackendInfo info = lloyd::exact_step_info("a fixture of the tests");
  info.parameters = kParameters;
  info.parameter_count = 1;
  return info;
}();

void react() {
  const char* const text = std::getenv("LLOYD_WRAPPED");
  const std::string what = text == nullptr ? "" : text;
  if (what == "abort") std::abort();
  while (what == "hang") ::pause();
}

template <class T>
class GroupStep : public lloyd::RowStep<GroupStep<T>, T> {
 public:
  GroupStep(const lloyd::DatasetView& view, const lloyd::ParameterList& parameters)
      : lloyd::RowStep<GroupStep<T>, T>(view, parameters),
        group_(static_cast<int>(parameters.integer("group")) % 64) {}

  void begin_fit(const lloyd::StepFitOptions&) {
    if (group_ == 0) react();
  }
  std::int32_t label(const T* x) const {
    const std::int64_t d = this->dataset.features;
    lloyd::Nearest nearest{0, lloyd::squared_distance(x, this->centroids, d)};
    for (std::int64_t c = 1; group_ > 0 && c < this->clusters; c += group_) {
      for (std::int64_t g = c; g < std::min(c + group_, this->clusters); ++g) {
        const double distance = lloyd::squared_distance(x, this->centroids + g * d, d);
        if (distance < nearest.squared_distance) nearest = {static_cast<std::int32_t>(g), distance};
      }
    }
    return nearest.label;
  }

 private:
  std::int64_t group_;
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<GroupStep, kInfo>);
