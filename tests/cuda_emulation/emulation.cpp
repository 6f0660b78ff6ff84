// The scheduler of fibers, device memory, and the runtime API.
#include "emulation.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) static_cast<void>(0)
#endif
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace emulation {
namespace {

constexpr int kMaxThreads = 1024;
// No power of two, so that stacks do not compete for the same cache lines.
constexpr std::size_t kStackBytes = (128 << 10) + 1088;
constexpr std::size_t kSharedBytes = 227 << 10;
constexpr std::size_t kRedZone = 256;
constexpr unsigned char kRedByte = 0xa5;
constexpr unsigned char kPoison = 0xff;  // NaN in every format
constexpr unsigned char kFreed = 0xdb;

long setting(const char* name, long otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::atol(value);
}

struct Fiber {
  void* stack_pointer;
  uint3 thread;
  bool lives;
  const char* waits_at;  // null: runnable
  void* call;
  int value;  // in: of a barrier; out: its result
};

// Lanes that wait for one another, stored at the first lane of the mask.
struct Meeting {
  int arrived;
  std::uint64_t mask;
  Operation operation;
};

// If not 0, fibers and blocks run in a random order, a new one after each grid barrier; if
// negative, blocks run in reverse order.
const long kSeed = setting("LLOYD_EMULATION_SEED", 0);

struct Block {
  char* stacks = nullptr;
  Fiber fibers[kMaxThreads];
  Meeting meetings[kMaxThreads];
  Meeting warpgroups[kMaxThreads];
  int threads = 0;
  int live = 0;
  int arrived = 0;
  int at_grid_barrier = 0;
  Reduction reduction = Reduction::none;
  int running = -1;
  std::vector<int> ready;  // a queue from `front` on
  std::size_t front = 0;
  std::vector<unsigned char> shared;  // while paused: its dynamic, then its static shared memory
};

struct Grid {
  std::recursive_mutex mutex;  // one grid runs at a time
  void* scheduler = nullptr;
  std::vector<Block*> blocks;  // see pooled_block()
  Block* current = nullptr;
  const std::function<void()>* body = nullptr;
  const char* kernel = "no kernel";
  std::size_t dynamic_bytes = 0;
  bool cooperative = false;
  std::mt19937_64 random{static_cast<unsigned long>(kSeed)};
};

// Never destroyed, since the plugin is never unloaded.
Grid& grid() {
  static auto& instance = *new Grid;
  return instance;
}
Block& block() {
  return *grid().current;
}
std::vector<std::pair<void*, std::size_t>>& shared_variables() {
  static auto& instance = *new std::vector<std::pair<void*, std::size_t>>;
  return instance;
}
alignas(1024) unsigned char shared_memory[kSharedBytes + kRedZone];

extern "C" void emulation_switch(void** from, void* to);
asm(R"(
.text
.hidden emulation_switch
.globl emulation_switch
.type emulation_switch, @function
emulation_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");

void suspend() {
  Block& b = block();
  emulation_switch(&b.fibers[b.running].stack_pointer, grid().scheduler);
}

void release_barrier() {
  Block& b = block();
  int result = 0;
  for (int i = 0; i < b.threads; ++i) {
    const Fiber& fiber = b.fibers[i];
    if (fiber.lives && fiber.value != 0) ++result;
  }
  if (b.reduction == Reduction::any) result = result != 0;
  for (int i = 0; i < b.threads; ++i) {
    Fiber& fiber = b.fibers[i];
    if (!fiber.lives) continue;
    fiber.value = result;
    fiber.waits_at = nullptr;
    b.ready.push_back(i);
  }
  b.arrived = 0;
}

void run_fiber() {
  Block& b = block();
  (*grid().body)();
  Fiber& fiber = b.fibers[b.running];
  fiber.lives = false;
  --b.live;
  if (b.live > 0 && b.arrived == b.live) release_barrier();
  suspend();
  std::abort();
}

void start_fiber(int index) {
  Block& b = block();
  Fiber& fiber = b.fibers[index];
  auto** top = reinterpret_cast<void**>(b.stacks + (index + 1) * kStackBytes) - 1;
  *top = nullptr;                                // return address of run_fiber
  *--top = reinterpret_cast<void*>(&run_fiber);  // popped by ret
  top -= 6;                                      // registers
  std::memset(top, 0, 6 * sizeof(void*));
  fiber = {};
  fiber.stack_pointer = top;
  const auto i = static_cast<unsigned>(index);
  fiber.thread = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
  fiber.lives = true;
  b.ready.push_back(index);
}

void report_deadlock() {
  const Block& b = block();
  std::map<std::string, std::pair<int, int>> waiting;  // where: threads, first thread
  for (int i = 0; i < b.threads; ++i) {
    const Fiber& fiber = b.fibers[i];
    const char* where = !fiber.lives ? "has ended" : fiber.waits_at;
    auto& [count, first] = waiting[where];
    if (count++ == 0) first = i;
  }
  std::string text;
  for (const auto& [where, threads] : waiting) {
    text += "\n  " + std::to_string(threads.first) + " threads, the first is " +
            std::to_string(threads.second) + ": " + where;
  }
  fail("deadlock:%s", text.c_str());
}

uint3 block_index(std::size_t index) {
  const auto i = static_cast<unsigned>(index);
  return {i % gridDim.x, i / gridDim.x % gridDim.y, i / gridDim.x / gridDim.y};
}

void report_grid_deadlock(std::size_t blocks, std::size_t waiting) {
  const Grid& g = grid();
  const auto first = [&](bool lives) {
    std::size_t i = 0;
    while ((g.blocks[i]->live > 0) != lives) ++i;
    return block_index(i);
  };
  blockIdx = first(true);
  threadIdx = {};
  const uint3 ended = first(false);
  fail("deadlock: %zu blocks wait at this_grid().sync(), %zu have ended, one is (%u, %u, %u)",
       waiting, blocks - waiting, ended.x, ended.y, ended.z);
}

void poison_shared() {
  std::memset(shared_memory, kPoison, grid().dynamic_bytes);
  for (const auto& [address, bytes] : shared_variables()) std::memset(address, kPoison, bytes);
}

void save_shared(Block& b) {
  b.shared.assign(shared_memory, shared_memory + grid().dynamic_bytes);
  for (const auto& [address, bytes] : shared_variables()) {
    const auto* const data = static_cast<const unsigned char*>(address);
    b.shared.insert(b.shared.end(), data, data + bytes);
  }
}

void restore_shared(const Block& b) {
  const unsigned char* from = b.shared.data();
  const unsigned char* const end = from + b.shared.size();
  std::copy_n(from, grid().dynamic_bytes, shared_memory);
  from += grid().dynamic_bytes;
  for (const auto& [address, bytes] : shared_variables()) {
    if (from < end) {
      std::memcpy(address, from, bytes);
      from += bytes;
    } else {  // another block has registered it since
      std::memset(address, kPoison, bytes);
    }
  }
}

void start_block() {
  Block& b = block();
  b.threads = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
  b.live = b.threads;
  b.arrived = 0;
  b.at_grid_barrier = 0;
  b.ready.clear();
  b.front = 0;
  poison_shared();
  std::memset(b.meetings, 0, sizeof(b.meetings));
  std::memset(b.warpgroups, 0, sizeof(b.warpgroups));
  for (int i = 0; i < b.threads; ++i) start_fiber(i);
}

void resume_block() {
  Block& b = block();
  restore_shared(b);
  b.at_grid_barrier = 0;
  b.ready.clear();
  b.front = 0;
  for (int i = 0; i < b.threads; ++i) {
    if (!b.fibers[i].lives) continue;
    b.fibers[i].waits_at = nullptr;
    b.ready.push_back(i);
  }
}

// Runs the current block until it has ended or all of its live threads wait at the grid barrier.
void run_block(bool resumes) {
  Grid& g = grid();
  Block& b = block();
  ASAN_UNPOISON_MEMORY_REGION(shared_memory, sizeof(shared_memory));
  if (resumes) {
    resume_block();
  } else {
    start_block();
  }
  std::memset(shared_memory + g.dynamic_bytes, kRedByte, kRedZone);
  ASAN_POISON_MEMORY_REGION(shared_memory + g.dynamic_bytes, kRedZone);
  while (b.live > 0) {
    if (b.front == b.ready.size()) {
      if (b.at_grid_barrier == b.live) break;
      report_deadlock();
    }
    if (kSeed != 0) {
      const std::size_t other = b.front + g.random() % (b.ready.size() - b.front);
      std::swap(b.ready[b.front], b.ready[other]);
    }
    b.running = b.ready[b.front++];
    if (b.front > 65536) {
      b.ready.erase(b.ready.begin(), b.ready.begin() + static_cast<std::ptrdiff_t>(b.front));
      b.front = 0;
    }
    threadIdx = b.fibers[b.running].thread;
    emulation_switch(&g.scheduler, b.fibers[b.running].stack_pointer);
  }
  b.running = -1;
  ASAN_UNPOISON_MEMORY_REGION(shared_memory, sizeof(shared_memory));
  for (std::size_t i = 0; i < kRedZone; ++i) {
    if (shared_memory[g.dynamic_bytes + i] != kRedByte) {
      fail("wrote beyond its %zu bytes of dynamic shared memory", g.dynamic_bytes);
    }
  }
  if (b.live > 0) save_shared(b);
}

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

void check_all_red_zones() {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  for (const auto& [address, allocation] : m.allocations) check_red_zones(address, allocation);
}

// Block objects are kept for later launches. Blocks of ordinary launches all use the first.
Block& pooled_block(std::size_t index) {
  auto& blocks = grid().blocks;
  while (blocks.size() <= index) {
    auto* const b = new Block;
    b->stacks = static_cast<char*>(mmap(nullptr, kMaxThreads * kStackBytes, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (b->stacks == MAP_FAILED) fail("no memory for stacks");
    blocks.push_back(b);
  }
  return *blocks[index];
}

std::vector<unsigned> block_order(std::size_t blocks) {
  std::vector<unsigned> order(blocks);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<unsigned>(i);
  if (kSeed < 0) {
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<unsigned>(order.size() - 1 - i);
  } else if (kSeed > 0) {
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[grid().random() % i]);
    }
  }
  return order;
}

void run_grid(const Launch& launch, const std::function<void()>& body) {
  Grid& g = grid();
  const std::lock_guard lock(g.mutex);
  g.kernel = launch.kernel;
  g.body = &body;
  g.dynamic_bytes = launch.shared_bytes;
  g.cooperative = launch.cooperative;
  gridDim = launch.grid;
  blockDim = launch.block;
  const std::size_t blocks = launch.grid.x * launch.grid.y * launch.grid.z;
  std::size_t waiting = 0;  // blocks at the grid barrier
  do {
    const bool resumes = waiting > 0;
    waiting = 0;
    for (const unsigned i : block_order(blocks)) {
      g.current = &pooled_block(launch.cooperative ? i : 0);
      blockIdx = block_index(i);
      run_block(resumes);
      if (g.current->live > 0) ++waiting;
    }
    if (waiting > 0 && waiting < blocks) report_grid_deadlock(blocks, waiting);
  } while (waiting > 0);
  check_all_red_zones();
  g.kernel = "no kernel";
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

void fail(const char* format, ...) {
  std::fprintf(stderr, "CUDA emulation: %s, block (%u, %u, %u), thread %u: ", grid().kernel,
               blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
  std::abort();
}

void rendezvous(std::uint64_t mask, Operation operation, void* call, const char* name) {
  Block& b = block();
  const int own = b.running;
  const int size = mask == kWarpgroup ? 128 : 32;
  const int begin = own / size * size;
  const int first = mask == kWarpgroup ? begin : begin + std::countr_zero(mask);
  if (mask != kWarpgroup && (mask >> (own - begin) & 1) == 0) {
    fail("%s: a lane is not in its mask", name);
  }
  Meeting& meeting = (mask == kWarpgroup ? b.warpgroups : b.meetings)[first];
  if (meeting.arrived == 0) {
    meeting.mask = mask;
    meeting.operation = operation;
  }
  if (meeting.mask != mask || meeting.operation != operation) {
    fail("%s: another lane waits with another mask or at another operation", name);
  }
  Fiber& fiber = b.fibers[own];
  fiber.call = call;
  fiber.waits_at = name;
  const int lanes = mask == kWarpgroup ? 128 : std::popcount(mask);
  if (++meeting.arrived < lanes) return suspend();
  meeting.arrived = 0;
  void* calls[128];
  for (int lane = 0; lane < size; ++lane) calls[lane] = b.fibers[begin + lane].call;
  operation(calls, mask);
  for (int lane = 0; lane < size; ++lane) {
    if (mask != kWarpgroup && (mask >> lane & 1) == 0) continue;
    b.fibers[begin + lane].waits_at = nullptr;
    if (begin + lane != own) b.ready.push_back(begin + lane);
  }
}

int barrier(Reduction reduction, int value) {
  Block& b = block();
  Fiber& fiber = b.fibers[b.running];
  if (b.arrived > 0 && b.reduction != reduction) fail("threads meet at different barriers");
  b.reduction = reduction;
  fiber.value = value;
  fiber.waits_at = "__syncthreads";
  if (++b.arrived == b.live) release_barrier();
  suspend();
  return fiber.value;
}

void grid_barrier() {
  if (!grid().cooperative) fail("this_grid().sync() in a launch that is not cooperative");
  Block& b = block();
  b.fibers[b.running].waits_at = "this_grid().sync()";
  ++b.at_grid_barrier;
  suspend();
}

void register_shared(void* address, std::size_t bytes) {
  std::memset(address, kPoison, bytes);
  shared_variables().emplace_back(address, bytes);
}

unsigned char* dynamic_shared() {
  return shared_memory;
}

std::uint32_t shared_address(const void* address) {
  const auto offset = static_cast<const unsigned char*>(address) - shared_memory;
  if (offset < 0 || offset > static_cast<std::ptrdiff_t>(kSharedBytes)) {
    fail("not an address in dynamic shared memory");
  }
  return static_cast<std::uint32_t>(offset) + 1024;  // 0 is not the first address
}

const unsigned char* at_shared_address(std::uint32_t address, std::size_t bytes) {
  if (address < 1024 || address - 1024 + bytes > grid().dynamic_bytes) {
    fail("read beyond its dynamic shared memory");
  }
  return shared_memory + (address - 1024);
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
