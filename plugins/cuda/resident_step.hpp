// ResidentStep: base of the steps whose samples all stay on the device.
#pragma once

#include "cuda/pass.hpp"
#include "cuda/resident_samples.hpp"

namespace lloyd_cuda {

/// Holds the samples in one layout; there is one part, all rows.
template <class T>
class ResidentStep : public Step<T> {
 public:
  /// Copies the samples to the device. Throws StatusError.
  ResidentStep(const lloyd::DatasetView& dataset, Layout layout, cudaStream_t stream)
      : resident_(dataset, layout, stream) {}

  void prepare(std::int64_t) override {}
  void for_each_part(lloyd::RowRange rows, const typename Step<T>::Body& body) override {
    body(rows, resident_.get());
  }

 protected:
  /// The samples as kernels see them.
  Samples<T> samples() const { return resident_.get(); }

 private:
  ResidentSamples<T> resident_;
};

/// What a ResidentStep holds.
inline lloyd::MemoryEstimate resident_bytes(const lloyd::ProblemShape& shape) {
  lloyd::MemoryEstimate memory;
  memory.device_bytes = shape.samples * shape.features * lloyd::size_of(shape.dtype);
  return memory;
}

}  // namespace lloyd_cuda
