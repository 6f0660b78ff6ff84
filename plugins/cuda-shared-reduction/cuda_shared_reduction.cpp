// cuda-shared-reduction: centroids in constant memory, and a tree reduction in shared memory for
// each cluster and feature.
#include <memory>
#include <optional>
#include <string>

#include "cuda/backend.hpp"
#include "cuda/resident/stored_step.hpp"
#include "kernels.hpp"

namespace {

using lloyd_cuda::Layout;

constexpr const char* kLayouts[] = {"soa", "aos"};
constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd_cuda::device_parameter(),
    lloyd_cuda::block_size_parameter(256),
    lloyd_cuda::memory_limit_parameter(),
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
class SharedReductionStep final : public lloyd_cuda::StoredStep<T> {
 public:
  SharedReductionStep(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters,
                      const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream)
      : lloyd_cuda::StoredStep<T>(dataset, static_cast<Layout>(parameters.choice("layout")),
                                  parameters, limits, stream),
        features_(dataset.features),
        limits_(limits),
        block_size_(lloyd_cuda::block_size_of(parameters)) {}

  void prepare(std::int64_t clusters,
               const typename lloyd_cuda::Step<T>::CancelRequested& cancel_requested) override {
    lloyd_cuda::StoredStep<T>::prepare(clusters, cancel_requested);
    space_.reset();
  }
  // Passes wait for constant memory, which all sessions share, so they cannot be recorded in a
  // graph.
  bool repeats() const override {
    return this->is_resident() && space_ && *space_ != lloyd_cuda::CentroidSpace::constant;
  }
  std::string notes() const override {
    if (!space_) return {};
    const std::string stored = this->store_note();
    return note_of(*space_) + (stored.empty() ? "" : ", " + stored);
  }

 private:
  void begin_assignment(const lloyd_cuda::Pass& pass) override {
    space_ = lloyd_cuda_shared_reduction::choose_space(
        pass.clusters, features_, pass.in_float64 ? sizeof(double) : sizeof(T), limits_);
  }
  void assign_part(const lloyd_cuda::Pass& part, const lloyd_cuda::Samples<T>& samples) override {
    namespace kernels = lloyd_cuda_shared_reduction;
    kernels::enqueue_assignment(part, samples, *space_, limits_, block_size_);
    if (!part.accumulates()) return;
    part.begin_phase(lloyd_cuda::Phase::update);
    kernels::enqueue_update(part, samples, limits_, tree_size(block_size_));
  }

  std::int64_t features_;
  lloyd_cuda::DeviceLimits limits_;
  int block_size_;
  std::optional<lloyd_cuda::CentroidSpace> space_;  // in the passes since prepare()
};

struct SharedReductionPlugin : lloyd_cuda::StoredPlugin<SharedReductionStep> {
  static constexpr lloyd::BackendInfo kInfo = lloyd_cuda::float32_info(
      "CUDA: constant-memory centroids, tree reduction in shared memory", 120, kParameters);
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd_cuda::CudaBackend<SharedReductionPlugin>);
