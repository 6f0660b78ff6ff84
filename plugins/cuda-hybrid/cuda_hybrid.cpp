// cuda-hybrid: labels on the GPU and updates on the CPU, overlapped.
#include <algorithm>

#include <lloyd/plugin/plugin.hpp>

#include "cuda-hybrid/device_labeller.hpp"
#include "cuda-hybrid/hybrid_step.hpp"
#include "cuda/backend.hpp"
#include "cuda/memory/memory_estimate.hpp"

namespace {

constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd_cuda::device_parameter(),
    lloyd_cuda::block_size_parameter(256),
    lloyd::integer_parameter("threads", 0, 0, 1024,
                             "CPU threads that compute the sums; 0: one per core"),
    lloyd::integer_parameter("chunk", 0, 0, std::int64_t{1} << 30,
                             "samples that are labelled on the device and copied at a time; 0: "
                             "chosen from the number of samples"),
};

constexpr lloyd::BackendInfo kInfo = [] {
  lloyd::BackendInfo info = lloyd_cuda::float32_info(
      "CUDA and CPU: labels on the GPU, update on all cores", 105, kParameters);
  info.capabilities &= ~lloyd::kCapabilityDeviceMemory;  // the CPU reads the samples
  return info;
}();

template <class T>
using Step = lloyd_cuda_hybrid::HybridStep<T, lloyd_cuda_hybrid::DeviceLabeller<T>>;

// The SDK's backend for the step, with the device's probing and limits added.
class HybridBackend final : public lloyd::Backend {
 public:
  const lloyd::BackendInfo* info() const noexcept override { return &kInfo; }

  lloyd::Status supports(const lloyd::ProblemShape& shape, const lloyd::ParameterList& parameters,
                         const lloyd::FitSpec& spec) const noexcept override {
    lloyd::Status status;
    const lloyd::Status guard =
        lloyd::guarded([&] { status = lloyd_cuda::check_device(parameters.integer("device")); });
    if (!guard.ok()) return guard;
    return status.ok() ? steps_.supports(shape, parameters, spec) : status;
  }

  lloyd::Status estimate(const lloyd::ProblemShape& shape, const lloyd::ParameterList& parameters,
                         const lloyd::FitSpec& spec,
                         lloyd::MemoryEstimate& memory) const noexcept override {
    const lloyd::Status status = steps_.estimate(shape, parameters, spec, memory);
    if (!status.ok()) return status;
    return lloyd::guarded([&] {
      const bool narrow = shape.dtype == lloyd::DType::float32;
      const double samples = static_cast<double>(shape.samples) *
                             static_cast<double>(shape.features) *
                             static_cast<double>(lloyd::size_of(shape.dtype));
      const std::int64_t step = narrow ? Step<float>::estimate_bytes(shape, parameters)
                                       : Step<double>::estimate_bytes(shape, parameters);
      memory.device_bytes =
          lloyd_cuda::make_estimate(0, samples + static_cast<double>(step)).device_bytes;
    });
  }

  lloyd::Status open(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters,
                     lloyd::Session** session) noexcept override {
    return steps_.open(dataset, parameters, session);
  }

  void* query(const char*) noexcept override { return nullptr; }
  void release() noexcept override { delete this; }

  static lloyd::Status create(lloyd::Backend** backend) noexcept {
    return lloyd::guarded([&] { *backend = new HybridBackend; });
  }
  static lloyd::Status probe(lloyd::DeviceList* devices) noexcept {
    return lloyd_cuda::probe(devices);
  }

 private:
  lloyd::StepBackend<Step, kInfo> steps_;
};

}  // namespace

LLOYD_EXPORT_PLUGIN(HybridBackend);
