// The triangle-inequality backend: exact labels, computing only the distances that the bounds leave
// open.
#include <cstdint>
#include <iterator>
#include <memory>

#include "cuda/backend.hpp"
#include "step.hpp"

namespace {

constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd_cuda::device_parameter(),
    lloyd_cuda::block_size_parameter(128),
    lloyd_cuda::memory_limit_parameter(),
};

struct ElkanPlugin {
  static constexpr lloyd::BackendInfo kInfo = {
      .summary = "CUDA: exact labels with triangle-inequality bounds, data of any size",
      .algorithm = "elkan",
      .capabilities = lloyd_cuda::kCudaCapabilities,
      .accuracy = lloyd::Accuracy::exact,
      .accuracy_float64 = lloyd::Accuracy::exact,
      .reproducibility = lloyd::Reproducibility::canonical,
      .reproducibility_float64 = lloyd::Reproducibility::canonical,
      .preference = 120,
      .parameters = kParameters,
      .parameter_count = std::ssize(kParameters),
  };

  static lloyd::Status supports(const lloyd::ProblemShape& shape,
                                const lloyd::ParameterList& parameters, const lloyd::FitSpec&) {
    constexpr std::int64_t kMaxFeatures = (std::int64_t{1} << 31) - 1;
    if (shape.features > kMaxFeatures) {
      return lloyd::Status::error(lloyd::StatusCode::unsupported,
                                  "the bounds hold for up to " + std::to_string(kMaxFeatures) +
                                      " features, there are " + std::to_string(shape.features));
    }
    const std::int64_t card = lloyd_cuda::device_bytes_of(parameters);
    const std::int64_t limit = parameters.integer("memory_limit");
    const auto plan = lloyd_cuda_elkan::plan_for(shape, limit, card);
    if (plan.feasible) return {};
    return lloyd_cuda_elkan::refusal(shape, plan, limit, card);
  }

  static lloyd::MemoryEstimate estimate(const lloyd::ProblemShape& shape,
                                        const lloyd::ParameterList& parameters) {
    const auto plan = lloyd_cuda_elkan::plan_for(shape, parameters.integer("memory_limit"),
                                                 lloyd_cuda::device_bytes_of(parameters));
    return lloyd_cuda::make_estimate(plan.host_bytes, plan.device_bytes);
  }

  template <class T>
  static std::unique_ptr<lloyd_cuda::Step<T>> make_step(const lloyd::DatasetView& dataset,
                                                        const lloyd::ParameterList& parameters,
                                                        const lloyd_cuda::DeviceLimits& limits,
                                                        cudaStream_t stream) {
    return std::make_unique<lloyd_cuda_elkan::ElkanStep<T>>(
        dataset, parameters.integer("memory_limit"), lloyd_cuda::block_size_of(parameters), limits,
        stream);
  }
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd_cuda::CudaBackend<ElkanPlugin>);
