#include "cuda/rows/device_rows.hpp"

#include <string>

#include "cuda/device/check.hpp"

namespace lloyd_cuda {

using lloyd::StatusCode;
using lloyd::StatusError;

void check_device_rows(const lloyd::DatasetView& dataset, int device) {
  if (!is_on_device(dataset)) return;
  const std::string of_rows = std::to_string(dataset.device);
  cudaPointerAttributes attributes{};
  const cudaError_t error = cudaPointerGetAttributes(&attributes, dataset.data);
  if (error != cudaSuccess) cudaGetLastError();
  const bool is_managed = error == cudaSuccess && attributes.type == cudaMemoryTypeManaged;
  if (error != cudaSuccess || (attributes.type != cudaMemoryTypeDevice && !is_managed)) {
    throw StatusError(StatusCode::invalid_argument,
                      "the samples are said to be in the memory of CUDA device " + of_rows +
                          ", but their address is not in device memory");
  }
  if (!is_managed && attributes.device != dataset.device) {
    throw StatusError(StatusCode::invalid_argument,
                      "the samples are said to be in the memory of CUDA device " + of_rows +
                          ", but they are in that of device " + std::to_string(attributes.device));
  }
  if (dataset.device != device) {
    throw StatusError(StatusCode::unsupported, "the samples are in the memory of CUDA device " +
                                                   of_rows + ", but the parameter device is " +
                                                   std::to_string(device) + "; set it to " +
                                                   of_rows);
  }
}

void enqueue_wait(cudaStream_t waiting, cudaStream_t stream) {
  const Event reached;
  reached.record(stream);
  check(cudaStreamWaitEvent(waiting, reached, 0), "waiting for a stream");
}

const Stream& wait_for_rows(const Stream& stream, const lloyd::DatasetView& dataset) {
  if (is_on_device(dataset)) enqueue_wait(stream, stream_of(dataset));
  return stream;
}

void signal_rows_read(const Stream& stream, const lloyd::DatasetView& dataset) {
  if (is_on_device(dataset)) enqueue_wait(stream_of(dataset), stream);
}

}  // namespace lloyd_cuda
