// cuda-shared-reduction: centroids in constant memory, and a tree reduction in shared memory for
// each cluster and feature.
#include <memory>
#include <optional>
#include <string>

#include "cuda/backend.hpp"
#include "cuda/resident/resident_step.hpp"
#include "kernels.hpp"

namespace {

using lloyd_cuda::Layout;

constexpr const char* kLayouts[] = {"soa", "aos"};
constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd_cuda::device_parameter(),
    lloyd_cuda::block_size_parameter(256),
    lloyd::choice_parameter("layout", kLayouts,
                            "layout of the samples on the device: soa: each feature contiguous; "
                            "aos: each sample contiguous"),
};

// Threads per block of the update: the largest power of two within block_size, for the tree.
int tree_size(int block_size) {
  int size = 32;
  while (2 * size <= block_size) size *= 2;
  return size;
}

template <class T>
class SharedReductionStep final : public lloyd_cuda::ResidentStep<T> {
 public:
  SharedReductionStep(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters,
                      const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream)
      : lloyd_cuda::ResidentStep<T>(dataset, static_cast<Layout>(parameters.choice("layout")),
                                    stream),
        limits_(limits),
        block_size_(lloyd_cuda::block_size_of(parameters)) {}

  void prepare(std::int64_t, const typename lloyd_cuda::Step<T>::CancelRequested&) override {
    space_.reset();
  }
  void assign(const lloyd_cuda::Pass& pass) override {
    namespace kernels = lloyd_cuda_shared_reduction;
    space_ = kernels::choose_space(pass.clusters, this->samples().features,
                                   pass.in_float64 ? sizeof(double) : sizeof(T), limits_);
    kernels::enqueue_assignment(pass, this->samples(), *space_, limits_, block_size_);
    if (!pass.accumulates()) return;
    if (pass.phases != nullptr) pass.phases->begin(lloyd_cuda::Phase::update, pass.stream);
    kernels::enqueue_update(pass, this->samples(), limits_, tree_size(block_size_));
  }
  std::string notes() const override { return space_ ? note_of(*space_) : std::string(); }

 private:
  lloyd_cuda::DeviceLimits limits_;
  int block_size_;
  std::optional<lloyd_cuda::CentroidSpace> space_;  // in the passes since prepare()
};

struct SharedReductionPlugin : lloyd_cuda::ResidentPlugin<SharedReductionStep> {
  static constexpr lloyd::BackendInfo kInfo = lloyd_cuda::float32_info(
      "CUDA: constant-memory centroids, tree reduction in shared memory", 120, kParameters);
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd_cuda::CudaBackend<SharedReductionPlugin>);
