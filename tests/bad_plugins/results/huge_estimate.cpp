// Works correctly, but estimates far more memory than a fit uses: 1 MB for each sample.
#include <cstdint>

#include <lloyd/plugin/plugin.hpp>

namespace {

constexpr lloyd::BackendInfo kInfo = lloyd::exact_step_info("a fixture of the tests");

template <class T>
class HugeStep : public lloyd::RowStep<HugeStep<T>, T> {
 public:
  using lloyd::RowStep<HugeStep<T>, T>::RowStep;

  static std::int64_t estimate_bytes(const lloyd::ProblemShape& shape,
                                     const lloyd::ParameterList&) {
    return 1'000'000 * shape.samples;
  }
  std::int32_t label(const T* x) const {
    return lloyd::nearest_centroid(x, this->centroids, this->clusters, this->dataset.features)
        .label;
  }
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<HugeStep, kInfo>);
