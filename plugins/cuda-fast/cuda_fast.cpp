// cuda-fast: exact labels, screened on tensor cores, or in float32 with few features.
#include <string>

#include "cuda/backend.hpp"
#include "cuda/device/device.hpp"
#include "cuda/memory/memory_limit.hpp"
#include "cuda/resident/stored_step.hpp"
#include "fast_step.hpp"

namespace {

using lloyd_cuda_fast::FastPlan;
using lloyd_cuda_fast::FastProblem;

constexpr const char* kPaths[] = {"auto", "wgmma", "mma", "direct"};
constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd_cuda::device_parameter(),
    lloyd_cuda::memory_limit_parameter(),
    lloyd::choice_parameter("path", kPaths,
                            "arithmetic of the screen: wgmma (tensor cores of compute capability "
                            "9.0), mma (tensor cores from 8.0 on), direct (float32); auto: the "
                            "fastest"),
};

constexpr lloyd::BackendInfo make_info() {
  lloyd::BackendInfo info;
  info.summary = "CUDA: exact labels, screened on tensor cores, or in float32 with few features";
  info.algorithm = "lloyd";
  info.capabilities = lloyd_cuda::kCudaCapabilities;
  info.accuracy = lloyd::Accuracy::exact;
  info.accuracy_float64 = lloyd::Accuracy::exact;
  info.reproducibility = lloyd::Reproducibility::canonical;
  info.reproducibility_float64 = lloyd::Reproducibility::canonical;
  info.preference = 110;
  info.set_parameters(kParameters);
  return info;
}

struct FastPlugin {
  static constexpr lloyd::BackendInfo kInfo = make_info();

  static lloyd::Status supports(const lloyd::ProblemShape& shape,
                                const lloyd::ParameterList& parameters, const lloyd::FitSpec&) {
    if (lloyd_cuda::device_bytes_of(parameters) > 0) {  // without a device, open() reports it
      lloyd_cuda_fast::path_for(parameters.choice("path"), shape.features,
                                static_cast<int>(parameters.integer("device")));
    }
    double available = 0;
    const FastPlan plan = plan_of(shape, parameters, available);
    if (plan.store.feasible) return {};
    const auto mebibytes = [](double bytes) {
      return std::to_string(static_cast<std::int64_t>(bytes / (1 << 20)));
    };
    const double limit = lloyd_cuda::limit_bytes(parameters.integer("memory_limit"),
                                                 lloyd_cuda::device_bytes_of(parameters));
    return lloyd::Status::error(
        lloyd::StatusCode::unsupported,
        std::to_string(shape.samples) + " samples of " + std::to_string(shape.features) +
            " features and " + std::to_string(shape.clusters) + " clusters take " +
            mebibytes(plan.device_bytes() + (limit - available) + (1 << 20)) +
            " MiB of device memory at least, with samples in batches; the limit is " +
            mebibytes(limit) + " MiB");
  }

  static lloyd::MemoryEstimate estimate(const lloyd::ProblemShape& shape,
                                        const lloyd::ParameterList& parameters) {
    double available = 0;
    const FastPlan plan = plan_of(shape, parameters, available);
    return lloyd_cuda::make_estimate(plan.store.host_bytes, plan.device_bytes());
  }

  template <class T>
  static std::unique_ptr<lloyd_cuda::Step<T>> make_step(const lloyd::DatasetView& dataset,
                                                        const lloyd::ParameterList& parameters,
                                                        const lloyd_cuda::DeviceLimits& limits,
                                                        cudaStream_t stream) {
    return std::make_unique<lloyd_cuda_fast::FastStep<T>>(dataset, parameters, limits, stream);
  }

 private:
  // The plan for samples in host memory; sets `available`, the device memory that it may use.
  static FastPlan plan_of(const lloyd::ProblemShape& shape, const lloyd::ParameterList& parameters,
                          double& available) {
    const std::int64_t card_bytes = lloyd_cuda::device_bytes_of(parameters);
    available = lloyd_cuda::available_for_samples(shape, parameters, card_bytes);
    FastProblem problem;
    problem.samples = shape.samples;
    problem.features = shape.features;
    problem.clusters = shape.clusters;
    problem.row_bytes =
        static_cast<double>(shape.features) * static_cast<double>(lloyd::size_of(shape.dtype));
    problem.uses_tensor_cores =
        lloyd_cuda_fast::may_use_tensor_cores(parameters.choice("path"), shape.features);
    // Without a device, those of an H100.
    lloyd_cuda::DeviceLimits limits;
    limits.shared_bytes_per_block = 227 << 10;
    limits.multiprocessors = 132;
    if (card_bytes > 0) {
      limits = lloyd_cuda::read_limits(static_cast<int>(parameters.integer("device")));
    }
    problem.shared_bytes = limits.shared_bytes_per_block;
    problem.multiprocessors = limits.multiprocessors;
    problem.may_fuse = parameters.choice("path") == lloyd_cuda_fast::kAutoPath &&
                       lloyd_cuda_fast::can_run_fused(shape.clusters, shape.features, limits);
    return plan_fast(problem, available);
  }
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd_cuda::CudaBackend<FastPlugin>);
