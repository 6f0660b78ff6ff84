// A step that forgets the last centroid in the last block of large data, with any number of
// threads.
#include <cstdint>

#include <lloyd/plugin/plugin.hpp>

namespace {

constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd::integer_parameter("threads", 1, 1, 64, "threads; only one is used"),
};

constexpr lloyd::BackendInfo kInfo = [] {
  lloyd::BackendInfo info = lloyd::exact_step_info("a fixture of the tests");
  info.set_parameters(kParameters);
  return info;
}();

template <class T>
class LastBlockStep : public lloyd::RowStep<LastBlockStep<T>, T> {
 public:
  using lloyd::RowStep<LastBlockStep<T>, T>::RowStep;

  std::int32_t label(const T* x) const {
    constexpr std::int64_t kLarge = 50000;
    const lloyd::DatasetView& data = this->dataset;
    const std::int64_t row = (x - static_cast<const T*>(data.data)) / data.stride;
    const bool is_last =
        row / LastBlockStep::kBlockRows == data.samples / LastBlockStep::kBlockRows;
    const std::int64_t forgotten = is_last && data.samples > kLarge ? 1 : 0;
    return lloyd::nearest_centroid(x, this->centroids, this->clusters - forgotten, data.features)
        .label;
  }
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<LastBlockStep, kInfo>);
