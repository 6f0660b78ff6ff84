// cuda-fused: one kernel assigns samples and sums them in shared memory; `split` makes two kernels
// of it.
#include <string>

#include "configuration.hpp"
#include "cuda/backend.hpp"
#include "cuda/resident/resident_step.hpp"
#include "kernels.hpp"

namespace {

using lloyd_cuda::CentroidSpace;

constexpr const char* kSpaces[] = {"shared", "global", "constant"};
constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd_cuda::device_parameter(),
    lloyd_cuda::block_size_parameter(256),
    lloyd::boolean_parameter(
        "split", false,
        "true: a second kernel computes the sums; false: the kernel that labels does"),
    lloyd::choice_parameter("centroids", kSpaces,
                            "memory space of the centroids; global if they do not fit"),
};

template <class T>
class FusedStep final : public lloyd_cuda::ResidentStep<T> {
 public:
  FusedStep(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters,
            const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream)
      : lloyd_cuda::ResidentStep<T>(
            dataset, lloyd_cuda_fused::layout_for(dataset.features, sizeof(T) == sizeof(float)),
            stream),
        limits_(limits) {
    request_.features = dataset.features;
    request_.block_size = lloyd_cuda::block_size_of(parameters);
    request_.split = parameters.boolean("split");
    request_.space = static_cast<CentroidSpace>(parameters.choice("centroids"));
  }

  void prepare(std::int64_t, const typename lloyd_cuda::Step<T>::CancelRequested&) override {
    notes_.clear();
    sums_noted_ = false;
  }
  void assign(const lloyd_cuda::Pass& pass) override {
    lloyd_cuda_fused::Request request = request_;
    request.clusters = pass.clusters;
    request.centroid_bytes = pass.in_float64 ? sizeof(double) : sizeof(T);
    request.limbs = pass.scale.limbs;
    const lloyd_cuda_fused::Configuration configuration =
        lloyd_cuda_fused::choose(request, limits_);
    if (notes_.empty() || (pass.accumulates() && !sums_noted_)) {
      notes_ = note_of(request, configuration, pass.accumulates());
      sums_noted_ = pass.accumulates();
    }
    enqueue_pass(pass, this->samples(), configuration, limits_, request.block_size);
    if (!pass.accumulates() || configuration.fused) return;
    if (pass.phases != nullptr) pass.phases->begin(lloyd_cuda::Phase::update, pass.stream);
    enqueue_accumulation(pass, this->samples(), configuration, limits_, request.block_size);
  }
  std::string notes() const override { return notes_; }

 private:
  lloyd_cuda::DeviceLimits limits_;
  lloyd_cuda_fused::Request request_;
  // Notes on the passes since prepare(), on accumulating ones if there were any.
  std::string notes_;
  bool sums_noted_ = false;
};

struct FusedPlugin : lloyd_cuda::ResidentPlugin<FusedStep> {
  static constexpr lloyd::BackendInfo kInfo = lloyd_cuda::float32_info(
      "CUDA: assignment and sums in one kernel, in shared memory", 140, kParameters);
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd_cuda::CudaBackend<FusedPlugin>);
