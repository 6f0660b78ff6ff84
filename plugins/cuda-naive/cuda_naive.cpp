// cuda-naive: the straightforward GPU version, one thread per sample and everything in global
// memory.
#include "cuda/backend.hpp"
#include "cuda/resident/stored_step.hpp"
#include "kernels.hpp"

namespace {

using lloyd_cuda_naive::Update;

constexpr const char* kUpdates[] = {"atomic", "block", "serial"};
constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd_cuda::device_parameter(),
    lloyd_cuda::block_size_parameter(256),
    lloyd_cuda::memory_limit_parameter(),
    lloyd::choice_parameter("update", kUpdates,
                            "who adds samples to the sums of their clusters; atomic: each sample's "
                            "thread, by atomic operations; block: the first thread of each block; "
                            "serial: one thread for each cluster and feature"),
};

template <class T>
class NaiveStep final : public lloyd_cuda::StoredStep<T> {
 public:
  NaiveStep(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters,
            const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream)
      : lloyd_cuda::StoredStep<T>(dataset, lloyd_cuda::Layout::aos, parameters, limits, stream),
        block_size_(lloyd_cuda::block_size_of(parameters)),
        update_(static_cast<Update>(parameters.choice("update"))) {}

  std::string notes() const override { return this->store_note(); }

 private:
  void assign_part(const lloyd_cuda::Pass& part, const lloyd_cuda::Samples<T>& samples) override {
    lloyd_cuda_naive::enqueue_assignment(part, samples, block_size_);
    if (!part.accumulates()) return;
    part.begin_phase(lloyd_cuda::Phase::update);
    lloyd_cuda_naive::enqueue_update(part, samples, update_, block_size_);
  }

  int block_size_;
  Update update_;
};

struct NaivePlugin : lloyd_cuda::StoredPlugin<NaiveStep> {
  static constexpr lloyd::BackendInfo kInfo =
      lloyd_cuda::float32_info("CUDA: a thread per sample, global memory", 110, kParameters);
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd_cuda::CudaBackend<NaivePlugin>);
