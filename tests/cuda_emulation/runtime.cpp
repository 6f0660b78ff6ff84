// The runtime API: device memory, streams, graphs and launches.
#include <sys/mman.h>

#include <chrono>
#include <map>
#include <mutex>
#include <vector>

#include "internals.hpp"

namespace emulation {
namespace {

constexpr unsigned char kFreed = 0xdb;

struct Allocation {
  std::size_t bytes;
  bool on_device;
};
struct Memory {
  std::recursive_mutex mutex;
  std::map<std::uintptr_t, Allocation> allocations;
  std::map<std::uintptr_t, std::size_t> registered;
  std::map<const void*, int> shared_limits;
  std::size_t used = 0;
  const std::size_t total = static_cast<std::size_t>(setting("LLOYD_EMULATION_MIB", 4096)) << 20;
};
Memory& memory() {
  static auto& instance = *new Memory;
  return instance;
}

void check_red_zones(std::uintptr_t address, const Allocation& allocation) {
#ifdef __SANITIZE_ADDRESS__
  return;  // the sanitizer also reports reads
#endif
  const auto* const data = reinterpret_cast<const unsigned char*>(address);
  for (std::size_t i = 0; i < kRedZone; ++i) {
    if (data[allocation.bytes + i] != kRedByte ||
        data[-1 - static_cast<std::ptrdiff_t>(i)] != kRedByte) {
      fail("wrote outside of an allocation of %zu bytes", allocation.bytes);
    }
  }
}

// Fails if device memory is accessed beyond an allocation.
void check_range(const void* address, std::size_t bytes) {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto next = m.allocations.upper_bound(at);
  if (next == m.allocations.begin()) return;
  --next;
  if (at >= next->first + next->second.bytes + kRedZone) return;
  if (at + bytes > next->first + next->second.bytes) {
    fail("a copy of %zu bytes ends beyond an allocation of %zu bytes", bytes, next->second.bytes);
  }
}

cudaError_t allocate(void** address, std::size_t bytes, bool on_device) {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  if (on_device && m.used + bytes > m.total) return cudaErrorMemoryAllocation;
  // Device memory is not part of the heap, which the conformance suite measures.
  void* const region = on_device
                           ? mmap(nullptr, bytes + 2 * kRedZone, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                           : std::aligned_alloc(256, (bytes + 2 * kRedZone + 255) / 256 * 256);
  if (region == nullptr || region == MAP_FAILED) return cudaErrorMemoryAllocation;
  auto* const data = static_cast<unsigned char*>(region) + kRedZone;
  std::memset(data - kRedZone, kRedByte, kRedZone);
  std::memset(data, kPoison, bytes);
  std::memset(data + bytes, kRedByte, kRedZone);
  ASAN_POISON_MEMORY_REGION(data - kRedZone, kRedZone);
  ASAN_POISON_MEMORY_REGION(data + bytes, kRedZone);
  m.allocations[reinterpret_cast<std::uintptr_t>(data)] = {bytes, on_device};
  if (on_device) m.used += bytes;
  *address = data;
  return cudaSuccess;
}

cudaError_t release(void* address, bool on_device) {
  if (address == nullptr) return cudaSuccess;
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto found = m.allocations.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == m.allocations.end() || found->second.on_device != on_device) {
    fail("freed memory that is not allocated");
  }
  check_red_zones(found->first, found->second);
  std::memset(address, kFreed, found->second.bytes);
  ASAN_UNPOISON_MEMORY_REGION(static_cast<unsigned char*>(address) - kRedZone,
                              found->second.bytes + 2 * kRedZone);
  unsigned char* const region = static_cast<unsigned char*>(address) - kRedZone;
  if (on_device) {
    m.used -= found->second.bytes;
    munmap(region, found->second.bytes + 2 * kRedZone);
  } else {
    std::free(region);
  }
  m.allocations.erase(found);
  return cudaSuccess;
}

std::size_t multiprocessors() {
  return static_cast<std::size_t>(setting("LLOYD_EMULATION_MULTIPROCESSORS", 4));
}
bool has_cooperative_grids() {
  return setting("LLOYD_EMULATION_COOPERATIVE", 1) != 0;
}

thread_local cudaError_t last_error = cudaSuccess;
cudaError_t report(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

}  // namespace

long setting(const char* name, long otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::atol(value);
}

void check_all_red_zones() {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  for (const auto& [address, allocation] : m.allocations) check_red_zones(address, allocation);
}

cudaError_t launch(const Launch& launch, std::function<void()> thread) {
  const std::size_t threads = std::size_t{launch.block.x} * launch.block.y * launch.block.z;
  const std::size_t blocks = std::size_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  std::size_t limit = 48 << 10;
  {
    const std::lock_guard lock(memory().mutex);
    const auto found = memory().shared_limits.find(launch.function);
    if (found != memory().shared_limits.end()) limit = static_cast<std::size_t>(found->second);
  }
  if (threads == 0 || threads > kMaxThreads || blocks == 0 || launch.grid.y > 65535 ||
      launch.grid.z > 65535) {
    return report(cudaErrorInvalidConfiguration);
  }
  if (launch.shared_bytes > std::max(limit, std::size_t{48 << 10})) {
    return report(cudaErrorInvalidValue);
  }
  if (launch.cooperative) {
    if (!has_cooperative_grids()) return report(cudaErrorNotSupported);
    int resident = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, launch.function,
                                                  static_cast<int>(threads), launch.shared_bytes);
    if (blocks > static_cast<std::size_t>(resident) * multiprocessors()) {
      return report(cudaErrorCooperativeLaunchTooLarge);
    }
  }
  enqueue(launch.stream, [launch, thread = std::move(thread)] { run_grid(launch, thread); });
  return cudaSuccess;
}

cudaError_t launch(const cudaLaunchConfig_t& configuration, const void* function,
                   std::function<void()> thread) {
  Launch request{"kernel of cudaLaunchKernelEx", function,
                 configuration.gridDim,          configuration.blockDim,
                 configuration.dynamicSmemBytes, configuration.stream};
  for (unsigned i = 0; i < configuration.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = configuration.attrs[i];
    if (attribute.id == cudaLaunchAttributeIgnore) continue;
    if (attribute.id != cudaLaunchAttributeCooperative) return report(cudaErrorNotSupported);
    request.cooperative = attribute.val.cooperative != 0;
  }
  return launch(request, std::move(thread));
}

}  // namespace emulation

using namespace emulation;

struct CUstream_st {
  CUgraph_st* captures = nullptr;
};
struct CUevent_st {
  std::chrono::steady_clock::time_point time;
};
struct CUgraph_st {
  std::vector<std::function<void()>> work;
};

void emulation::enqueue(cudaStream_t stream, std::function<void()> work) {
  if (stream != nullptr && stream != cudaStreamLegacy && stream->captures != nullptr) {
    stream->captures->work.push_back(std::move(work));
  } else {
    work();
  }
}

cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}
const char* cudaGetErrorName(cudaError_t) {
  return "cudaError";
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorCooperativeLaunchTooLarge:
      return "too many blocks in cooperative launch";
    case cudaErrorNotSupported:
      return "operation not supported";
    default:
      return "emulated error";
  }
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 12000;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return report(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return report(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrTotalConstantMemory:
      *value = 64 << 10;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = static_cast<int>(multiprocessors());
      break;
    case cudaDevAttrL2CacheSize:
      *value = 1 << 20;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = static_cast<int>(setting("LLOYD_EMULATION_CAPABILITY", 90)) / 10;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = static_cast<int>(setting("LLOYD_EMULATION_CAPABILITY", 90)) % 10;
      break;
    case cudaDevAttrCooperativeLaunch:
      *value = has_cooperative_grids() ? 1 : 0;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = kSharedBytes;
      break;
  }
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return report(cudaErrorInvalidDevice);
  *properties = {};
  std::strcpy(properties->name, "CPU emulation of CUDA");
  properties->totalGlobalMem = memory().total;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  const std::lock_guard lock(memory().mutex);
  *free_bytes = memory().total - memory().used;
  *total_bytes = memory().total;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  return report(allocate(address, bytes, true));
}
cudaError_t cudaFree(void* address) {
  return release(address, true);
}
cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned) {
  return report(allocate(address, bytes, false));
}
cudaError_t cudaFreeHost(void* address) {
  return release(address, false);
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void* address, std::size_t bytes, unsigned) {
  const std::lock_guard lock(memory().mutex);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto next = memory().registered.lower_bound(at + bytes);
  if (next != memory().registered.begin() &&
      std::prev(next)->first + std::prev(next)->second > at) {
    return report(cudaErrorHostMemoryAlreadyRegistered);
  }
  memory().registered[at] = bytes;
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* address) {
  const std::lock_guard lock(memory().mutex);
  const bool found = memory().registered.erase(reinterpret_cast<std::uintptr_t>(address)) != 0;
  return report(found ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  const std::lock_guard lock(memory().mutex);
  *attributes = {};
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto next = memory().allocations.upper_bound(at);
  if (next == memory().allocations.begin()) return cudaSuccess;
  --next;
  if (at >= next->first + next->second.bytes) return cudaSuccess;
  attributes->type = next->second.on_device ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
  attributes->devicePointer = const_cast<void*>(address);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  check_range(to, bytes);
  check_range(from, bytes);
  enqueue(stream, [=] { std::memmove(to, from, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  for (std::size_t row = 0; row < height; ++row) {
    cudaMemcpyAsync(static_cast<char*>(to) + row * to_pitch,
                    static_cast<const char*>(from) + row * from_pitch, width, kind, stream);
  }
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream) {
  check_range(to, bytes);
  enqueue(stream, [=] { std::memset(to, byte, bytes); });
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (stream != nullptr && stream != cudaStreamLegacy && stream->captures != nullptr) {
    return report(cudaErrorStreamCaptureUnsupported);
  }
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return cudaStreamSynchronize(stream);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  stream->captures = new CUgraph_st;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = std::exchange(stream->captures, nullptr);
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long) {
  *executable = new CUgraph_st(*graph);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) {
  for (const auto& work : executable->work) work();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  enqueue(stream, [=] { event->time = std::chrono::steady_clock::now(); });
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int value) {
  if (value < 0 || static_cast<std::size_t>(value) > kSharedBytes) {
    return report(cudaErrorInvalidValue);
  }
  const std::lock_guard lock(memory().mutex);
  memory().shared_limits[kernel] = value;
  return cudaSuccess;
}
