#include "cuda/device/host_registration.hpp"

#include <cuda_runtime_api.h>

#include <lloyd/plugin/sdk/machine/usable_memory.hpp>

namespace lloyd_cuda {
namespace {

constexpr double kMaxShareOfMemory = 1.0 / 16;

}  // namespace

HostRegistration::HostRegistration(const void* data, std::size_t bytes) {
  const double limit = kMaxShareOfMemory * static_cast<double>(lloyd::usable_memory());
  if (bytes == 0 || static_cast<double>(bytes) > limit) return;
  // Read-only registration first: pages of a file mapped for reading allow no other, but not every
  // device supports it. Both fail if any part of the range is registered already.
  for (const unsigned flags : {unsigned{cudaHostRegisterReadOnly} | cudaHostRegisterPortable,
                               unsigned{cudaHostRegisterPortable}}) {
    if (cudaHostRegister(const_cast<void*>(data), bytes, flags) == cudaSuccess) {
      registered_ = data;
      return;
    }
    cudaGetLastError();
  }
}

HostRegistration::~HostRegistration() {
  if (registered_ != nullptr) cudaHostUnregister(const_cast<void*>(registered_));
}

}  // namespace lloyd_cuda
