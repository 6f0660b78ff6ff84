// Runs grids: threads are fibers, and blocks take turns.
#include <sys/mman.h>

#include <algorithm>
#include <cstdarg>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "internals.hpp"

namespace emulation {
namespace {

// No power of two, so that stacks do not compete for the same cache lines.
constexpr std::size_t kStackBytes = (128 << 10) + 1088;

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

}  // namespace

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

}  // namespace emulation
