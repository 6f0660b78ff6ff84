// Checked CUDA calls: an error becomes a StatusError.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include <lloyd/plugin/abi/status.hpp>

namespace lloyd_cuda {

/// The status code for a CUDA error.
inline lloyd::StatusCode status_code(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return lloyd::StatusCode::out_of_memory;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorSystemNotReady:
      return lloyd::StatusCode::unavailable;
    default:
      return lloyd::StatusCode::device_error;
  }
}

/// Throws StatusError for any error. `action` completes the message: "copying the labels".
inline void check(cudaError_t error, const char* action) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // resets the error, so that it is not reported again by a later call
  throw lloyd::StatusError(status_code(error), std::string("CUDA failed while ") + action + ": " +
                                                   cudaGetErrorName(error) + ", " +
                                                   cudaGetErrorString(error));
}

/// Checks a kernel launch; call it after each one.
inline void check_launch(const char* kernel) {
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) check(error, (std::string("launching ") + kernel).c_str());
}

}  // namespace lloyd_cuda
