// ResidentStep: base of steps that keep all samples on the device.
#pragma once

#include <memory>

#include <lloyd/plugin/abi/backend.hpp>

#include "cuda/device/device.hpp"
#include "cuda/memory/memory_estimate.hpp"
#include "cuda/passes/pass.hpp"
#include "cuda/resident/resident_samples.hpp"

namespace lloyd_cuda {

/// Keeps the samples in one layout, as a single part.
template <class T>
class ResidentStep : public Step<T> {
 public:
  /// Copies the samples to the device. Throws StatusError.
  ResidentStep(const lloyd::DatasetView& dataset, Layout layout, cudaStream_t stream)
      : resident_(dataset, layout, stream) {}

  void prepare(std::int64_t, const typename Step<T>::CancelRequested&) override {}
  void for_each_part(lloyd::RowRange rows, const typename Step<T>::Body& body) override {
    body(rows, resident_.get());
  }

 protected:
  /// The samples to pass to kernels.
  Samples<T> samples() const { return resident_.get(); }

 private:
  ResidentSamples<T> resident_;
};

/// Base of plugins for CudaBackend whose steps hold resident samples only and support every shape.
/// `StepOf<T>` is constructed from (dataset, parameters, limits, stream).
template <template <class> class StepOf>
struct ResidentPlugin {
  static lloyd::Status supports(const lloyd::ProblemShape&, const lloyd::ParameterList&,
                                const lloyd::FitSpec&) {
    return {};
  }
  static lloyd::MemoryEstimate estimate(const lloyd::ProblemShape& shape,
                                        const lloyd::ParameterList&) {
    return make_estimate(0, static_cast<double>(shape.samples) *
                                static_cast<double>(shape.features) *
                                static_cast<double>(lloyd::size_of(shape.dtype)));
  }
  template <class T>
  static std::unique_ptr<Step<T>> make_step(const lloyd::DatasetView& dataset,
                                            const lloyd::ParameterList& parameters,
                                            const DeviceLimits& limits, cudaStream_t stream) {
    return std::make_unique<StepOf<T>>(dataset, parameters, limits, stream);
  }
};

}  // namespace lloyd_cuda
