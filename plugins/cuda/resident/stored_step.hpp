// StoredStep: base of steps that label and sum any part of the rows, whether it is in device memory
// or streamed.
#pragma once

#include <memory>
#include <string>

#include <lloyd/plugin/abi/backend.hpp>

#include "cuda/device/device.hpp"
#include "cuda/loop/loop.hpp"
#include "cuda/memory/memory_estimate.hpp"
#include "cuda/memory/memory_limit.hpp"
#include "cuda/memory/problem_shape.hpp"
#include "cuda/parameters.hpp"
#include "cuda/passes/pass.hpp"
#include "cuda/resident/sample_store.hpp"
#include "cuda/rows/device_rows.hpp"

namespace lloyd_cuda {

/// Device memory for samples, bytes: what the limit leaves beside the memory of DeviceLoop.
inline double available_for_samples(const lloyd::ProblemShape& shape,
                                    const lloyd::ParameterList& parameters,
                                    std::int64_t card_bytes) {
  const lloyd::MemoryEstimate loop = shape.dtype == lloyd::DType::float32
                                         ? DeviceLoop<float>::estimate(shape)
                                         : DeviceLoop<double>::estimate(shape);
  return limit_bytes(parameters.integer("memory_limit"), card_bytes) -
         static_cast<double>(loop.device_bytes);
}

/// Holds the samples in a SampleStore. A derived class assigns one part at a time; its schema has
/// memory_limit_parameter().
template <class T>
class StoredStep : public Step<T> {
 public:
  using CancelRequested = typename Step<T>::CancelRequested;

  /// Copies the samples that fit, or reads those in device memory in place: see SampleStore, also
  /// for `row_alignment`. The arrays of `dataset` must outlive the step. Throws StatusError.
  StoredStep(const lloyd::DatasetView& dataset, Layout layout,
             const lloyd::ParameterList& parameters, const DeviceLimits& limits,
             cudaStream_t stream, std::int64_t row_alignment = sizeof(T))
      : dataset_(dataset),
        limit_mebibytes_(parameters.integer("memory_limit")),
        card_bytes_(bytes_beside_rows(dataset, limits.total_bytes)),
        stream_(stream),
        store_(dataset, layout, row_alignment) {
    hold(1);  // the number of clusters is not known yet
  }

  void prepare(std::int64_t clusters, const CancelRequested& cancel_requested) override {
    cancel_requested_ = &cancel_requested;
    hold(clusters);
  }
  void assign(const Pass& pass) final {
    begin_assignment(pass);
    store_.walk(pass.rows, pass.halt, *cancel_requested_, pass.stream,
                [&](lloyd::RowRange rows, const Samples<T>& samples) {
                  Pass part = pass;
                  part.rows = rows;
                  if (!store_.is_resident()) part.begin_phase(Phase::assignment);
                  assign_part(part, samples);
                });
  }
  void for_each_part(lloyd::RowRange rows, const std::int32_t* skip,
                     const typename Step<T>::Body& body) override {
    store_.walk(rows, skip, *cancel_requested_, stream_, body);
  }
  bool repeats() const override { return store_.is_resident(); }
  bool streams_samples() const override { return !store_.is_resident(); }

 protected:
  /// Called before the parts of a pass.
  virtual void begin_assignment(const Pass&) {}
  /// Enqueues the assignment of one part of the rows, and its sums.
  virtual void assign_part(const Pass& part, const Samples<T>& samples) = 0;
  /// True if all samples are in device memory.
  bool is_resident() const { return store_.is_resident(); }
  /// A note on streamed samples; empty if there are none.
  std::string store_note() const {
    if (store_.is_resident()) return {};
    const StorePlan& plan = store_.plan();
    const std::string batches = "in batches of " + std::to_string(plan.batch_rows);
    if (plan.resident_rows == 0) return "samples " + batches;
    return "first " + std::to_string(plan.resident_rows) + " samples resident, the others " +
           batches;
  }

 private:
  void hold(std::int64_t clusters) {
    const lloyd::ProblemShape shape = shape_of(dataset_, clusters);
    const double loop = static_cast<double>(DeviceLoop<T>::estimate(shape).device_bytes);
    store_.hold(limit_bytes(limit_mebibytes_, card_bytes_) - loop, stream_);
  }

  lloyd::DatasetView dataset_;
  std::int64_t limit_mebibytes_;
  std::int64_t card_bytes_;
  cudaStream_t stream_;
  CancelRequested never_ = Step<T>::never_cancelled;
  const CancelRequested* cancel_requested_ = &never_;
  SampleStore<T> store_;
};

/// Base of plugins for CudaBackend whose steps are StoredSteps and support every shape. `StepOf<T>`
/// is constructed from (dataset, parameters, limits, stream).
template <template <class> class StepOf>
struct StoredPlugin {
  static lloyd::Status supports(const lloyd::ProblemShape& shape,
                                const lloyd::ParameterList& parameters, const lloyd::FitSpec&) {
    const std::int64_t card = device_bytes_of(parameters);
    const StorePlan plan = plan_of(shape, parameters, card);
    if (plan.feasible) return {};
    const auto mebibytes = [](double bytes) {
      return std::to_string(static_cast<std::int64_t>(bytes / (1 << 20)));
    };
    const double limit = limit_bytes(parameters.integer("memory_limit"), card);
    const double loop = limit - available_for_samples(shape, parameters, card);
    return lloyd::Status::error(
        lloyd::StatusCode::unsupported,
        std::to_string(shape.samples) + " samples of " + std::to_string(shape.features) +
            " features and " + std::to_string(shape.clusters) + " clusters take " +
            mebibytes(plan.device_bytes + loop + (1 << 20)) +
            " MiB of device memory at least, with samples in batches; the limit is " +
            mebibytes(limit) + " MiB");
  }
  static lloyd::MemoryEstimate estimate(const lloyd::ProblemShape& shape,
                                        const lloyd::ParameterList& parameters) {
    const StorePlan plan = plan_of(shape, parameters, device_bytes_of(parameters));
    return make_estimate(plan.host_bytes, plan.device_bytes);
  }
  template <class T>
  static std::unique_ptr<Step<T>> make_step(const lloyd::DatasetView& dataset,
                                            const lloyd::ParameterList& parameters,
                                            const DeviceLimits& limits, cudaStream_t stream) {
    return std::make_unique<StepOf<T>>(dataset, parameters, limits, stream);
  }

 private:
  static StorePlan plan_of(const lloyd::ProblemShape& shape, const lloyd::ParameterList& parameters,
                           std::int64_t card_bytes) {
    const double row_bytes =
        static_cast<double>(shape.features) * static_cast<double>(lloyd::size_of(shape.dtype));
    return plan_store(shape.samples, row_bytes,
                      available_for_samples(shape, parameters, card_bytes));
  }
};

}  // namespace lloyd_cuda
