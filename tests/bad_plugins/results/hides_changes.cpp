// A step that labels correctly, but reports no changed label from the second pass on: its fits end
// after two iterations.
#include <cstdint>

#include <lloyd/plugin/plugin.hpp>

namespace {

constexpr lloyd::BackendInfo kInfo = lloyd::exact_step_info("a fixture of the tests");

template <class T>
class HidingStep : public lloyd::RowStep<HidingStep<T>, T> {
 public:
  using Base = lloyd::RowStep<HidingStep<T>, T>;
  using Base::Base;

  std::int32_t label(const T* x) const {
    return lloyd::nearest_centroid(x, this->centroids, this->clusters, this->dataset.features)
        .label;
  }
  std::int64_t assign(lloyd::RowRange block, std::int32_t* labels) {
    const std::int64_t changed = Base::assign(block, labels);
    return changed == block.size() ? changed : 0;
  }
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<HidingStep, kInfo>);
