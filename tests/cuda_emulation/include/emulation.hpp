// Kernels on the CPU: each thread of a block is a fiber, and blocks run one after another, or in
// turns from one grid barrier to the next. Included into every translated source.
#pragma once

#include <cuda_runtime_api.h>
#include <math.h>

#include <bit>
#include <cfenv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

#define __host__
#define __device__
#define __global__
#define __constant__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

// Set whenever a fiber continues.
inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;

namespace emulation {

/// Ends the process with a message that names the kernel, block and thread.
[[noreturn]] void fail(const char* format, ...);

/// Waits for the lanes of `mask` of the warp, or of the whole warpgroup of 128 threads if `mask` is
/// kWarpgroup. The last one to arrive calls `operation(calls)`, where calls[lane] is the `call` of
/// each lane.
constexpr std::uint64_t kWarpgroup = 1ull << 32;
using Operation = void (*)(void* const* calls, std::uint64_t mask);
void rendezvous(std::uint64_t mask, Operation operation, void* call, const char* name);

enum class Reduction { none, any, count };
/// __syncthreads() and its variants.
int barrier(Reduction reduction, int value);
/// Waits for all blocks of a cooperative grid.
void grid_barrier();

/// Registers memory that is poisoned before each block.
void register_shared(void* address, std::size_t bytes);
/// A static shared variable; `Site` is unique to its declaration.
template <class T, class Site>
T& static_shared(Site) {
  alignas(alignof(T) > 16 ? alignof(T) : 16) static unsigned char bytes[sizeof(T)];
  [[maybe_unused]] static const bool registered = (register_shared(bytes, sizeof(T)), true);
  return *reinterpret_cast<T*>(bytes);
}
/// Dynamic shared memory.
unsigned char* dynamic_shared();
std::uint32_t shared_address(const void* address);
const unsigned char* at_shared_address(std::uint32_t address, std::size_t bytes);

struct Launch {
  const char* kernel;
  const void* function;
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
  bool cooperative = false;
};
cudaError_t launch(const Launch& launch, std::function<void()> thread);
cudaError_t launch(const cudaLaunchConfig_t& configuration, const void* function,
                   std::function<void()> thread);
void enqueue(cudaStream_t stream, std::function<void()> work);

template <class... Parameters>
auto configure(const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
               std::size_t bytes = 0, cudaStream_t stream = nullptr) {
  return [=](std::type_identity_t<Parameters>... arguments) {
    launch({name, reinterpret_cast<const void*>(kernel), grid, block, bytes, stream},
           [=] { kernel(arguments...); });
  };
}

template <class Kernel>
auto configure(const char* name, Kernel kernel, dim3 grid, dim3 block, std::size_t bytes = 0,
               cudaStream_t stream = nullptr) {
  return [=](auto... arguments) {
    launch({name, name, grid, block, bytes, stream}, [=] { kernel(arguments...); });
  };
}

template <class T>
const T* aligned(const T* address) {
  if (reinterpret_cast<std::uintptr_t>(address) % alignof(T) != 0) fail("misaligned load");
  return address;
}

template <class T>
struct Shuffle {
  T value;
  int source;  // lane; out of range: the lane itself
  T result;
};
template <class T>
T shuffle(unsigned mask, T value, int source, const char* name) {
  Shuffle<T> call{value, source, value};
  rendezvous(
      mask,
      [](void* const* calls, std::uint64_t lanes) {
        for (int lane = 0; lane < 32; ++lane) {
          if ((lanes >> lane & 1) == 0) continue;
          auto& own = *static_cast<Shuffle<T>*>(calls[lane]);
          if (own.source < 0 || own.source >= 32) continue;
          if ((lanes >> own.source & 1) == 0) fail("shuffle from a lane that is not in the mask");
          own.result = static_cast<Shuffle<T>*>(calls[own.source])->value;
        }
      },
      &call, name);
  return call.result;
}
inline int lane() {
  return static_cast<int>((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) %
                          32);
}

template <class Round>
auto in_rounding(int mode, Round round) {
  const int former = fegetround();
  fesetround(mode);
  const volatile auto result = round();
  fesetround(former);
  return result;
}

// Instructions of inline assembly, with the operands in the order of the statement.
void ldmatrix_x4(unsigned& x, unsigned& y, unsigned& z, unsigned& w, std::uint32_t address);
void mma_m16n8k16(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned a2,
                  unsigned a3, unsigned b0, unsigned b1);

struct Wgmma {
  float* d[64];
  int accumulators;  // half as many as columns
  unsigned a[4];
  std::uint64_t descriptor;  // of B
  int adds;
};
void wgmma(Wgmma& call);
template <int Columns, class... Operands>
void wgmma_m64k16(Operands&&... operands) {
  Wgmma call{};
  int words = 0;
  const auto take = [&](auto& operand) {
    using Operand = std::remove_cvref_t<decltype(operand)>;
    if constexpr (std::is_same_v<Operand, float>) {
      call.d[call.accumulators++] = &operand;
    } else if constexpr (sizeof(Operand) == 8) {
      call.descriptor = operand;
    } else if (words < 4) {
      call.a[words++] = static_cast<unsigned>(operand);
    } else {
      call.adds = static_cast<int>(operand);
    }
  };
  (take(operands), ...);
  if (call.accumulators != Columns / 2) fail("wgmma: not half as many accumulators as columns");
  wgmma(call);
}
inline void no_operation() {}

}  // namespace emulation

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* configuration,
                               void (*kernel)(Parameters...), Arguments&&... arguments) {
  return [&](Parameters... values) {
    return emulation::launch(*configuration, reinterpret_cast<const void*>(kernel),
                             [=] { kernel(values...); });
  }(std::forward<Arguments>(arguments)...);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source) {
  return emulation::shuffle(mask, value, source & 31, "__shfl_sync");
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits) {
  return emulation::shuffle(mask, value, emulation::lane() ^ bits, "__shfl_xor_sync");
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned offset) {
  return emulation::shuffle(mask, value, emulation::lane() + static_cast<int>(offset),
                            "__shfl_down_sync");
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned offset) {
  return emulation::shuffle(mask, value, emulation::lane() - static_cast<int>(offset),
                            "__shfl_up_sync");
}
inline unsigned __match_any_sync(unsigned mask, std::int64_t value) {
  struct Call {
    std::int64_t value;
    unsigned result;
  } call{value, 0};
  emulation::rendezvous(
      mask,
      [](void* const* calls, std::uint64_t lanes) {
        for (int a = 0; a < 32; ++a) {
          for (int b = 0; b < 32; ++b) {
            if ((lanes >> a & lanes >> b & 1) == 0) continue;
            auto& own = *static_cast<Call*>(calls[a]);
            if (own.value == static_cast<Call*>(calls[b])->value) own.result |= 1u << b;
          }
        }
      },
      &call, "__match_any_sync");
  return call.result;
}
inline unsigned __ballot_sync(unsigned mask, bool value) {
  struct Call {
    bool value;
    unsigned result;
  } call{value, 0};
  emulation::rendezvous(
      mask,
      [](void* const* calls, std::uint64_t lanes) {
        unsigned result = 0;
        for (int a = 0; a < 32; ++a) {
          if ((lanes >> a & 1) != 0 && static_cast<Call*>(calls[a])->value) result |= 1u << a;
        }
        for (int a = 0; a < 32; ++a) {
          if ((lanes >> a & 1) != 0) static_cast<Call*>(calls[a])->result = result;
        }
      },
      &call, "__ballot_sync");
  return call.result;
}
inline bool __any_sync(unsigned mask, bool value) {
  return __ballot_sync(mask, value) != 0;
}
inline bool __all_sync(unsigned mask, bool value) {
  return __ballot_sync(mask, !value) == 0;
}
inline void __syncwarp(unsigned mask = 0xffffffffu) {
  emulation::rendezvous(
      mask, [](void* const*, std::uint64_t) {}, nullptr, "__syncwarp");
}
inline void __syncthreads() {
  emulation::barrier(emulation::Reduction::none, 0);
}
inline int __syncthreads_or(int value) {
  return emulation::barrier(emulation::Reduction::any, value);
}
inline int __syncthreads_count(int value) {
  return emulation::barrier(emulation::Reduction::count, value);
}
inline void __threadfence() {}
inline void __threadfence_system() {}
[[noreturn]] inline void __trap() {
  emulation::fail("__trap");
}
inline std::size_t __cvta_generic_to_shared(const void* address) {
  return emulation::shared_address(address);
}

template <class T>
T __ldg(const T* address) {
  return *emulation::aligned(address);
}
template <class T>
T __ldcg(const T* address) {
  return *static_cast<const volatile T*>(emulation::aligned(address));
}

template <class T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  const T former = *emulation::aligned(address);
  *address = static_cast<T>(former + value);
  return former;
}
template <class T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  const T former = *emulation::aligned(address);
  if (value > former) *address = value;
  return former;
}
template <class T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  const T former = *emulation::aligned(address);
  if (value < former) *address = value;
  return former;
}
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  const unsigned former = *address;
  *address = former >= limit ? 0 : former + 1;
  return former;
}
template <class T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  // The host may change a flag concurrently.
  __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}

inline int __popc(unsigned x) {
  return std::popcount(x);
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
  return __builtin_ffsll(x);
}
inline int __clz(int x) {
  return std::countl_zero(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
  return std::countl_zero(static_cast<unsigned long long>(x));
}
inline int __float_as_int(float x) {
  return std::bit_cast<int>(x);
}
inline unsigned __float_as_uint(float x) {
  return std::bit_cast<unsigned>(x);
}
inline float __int_as_float(int x) {
  return std::bit_cast<float>(x);
}
inline float __uint_as_float(unsigned x) {
  return std::bit_cast<float>(x);
}
inline long long __double_as_longlong(double x) {
  return std::bit_cast<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return std::bit_cast<double>(x);
}
inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline float __fsub_rn(float a, float b) {
  return a - b;
}
inline double __dadd_rn(double a, double b) {
  return a + b;
}
inline double __dsub_rn(double a, double b) {
  return a - b;
}
inline double __dmul_rn(double a, double b) {
  return a * b;
}
inline double __ddiv_rn(double a, double b) {
  return a / b;
}
inline double __ull2double_rn(unsigned long long x) {
  return static_cast<double>(x);
}
// Saturates as the device does.
inline long long __double2ll_rz(double x) {
  if (!(x > -0x1p63)) return x == x ? INT64_MIN : INT64_MIN;
  return x >= 0x1p63 ? INT64_MAX : static_cast<long long>(x);
}
inline float __double2float_ru(double x) {
  const auto near = static_cast<float>(x);
  return static_cast<double>(near) < x ? nextafterf(near, INFINITY) : near;
}
inline float __double2float_rd(double x) {
  const auto near = static_cast<float>(x);
  return static_cast<double>(near) > x ? nextafterf(near, -INFINITY) : near;
}
#define EMULATE_BINARY(name, type, op, mode)                               \
  inline type name(type a, type b) {                                       \
    const volatile type x = a, y = b;                                      \
    return emulation::in_rounding(mode, [&]() -> type { return x op y; }); \
  }
#define EMULATE_SQRT(name, type, mode)                                           \
  inline type name(type a) {                                                     \
    const volatile type x = a;                                                   \
    return emulation::in_rounding(mode, [&]() -> type { return std::sqrt(x); }); \
  }
EMULATE_BINARY(__dadd_ru, double, +, FE_UPWARD)
EMULATE_BINARY(__dmul_ru, double, *, FE_UPWARD)
EMULATE_BINARY(__dmul_rd, double, *, FE_DOWNWARD)
EMULATE_BINARY(__fadd_ru, float, +, FE_UPWARD)
EMULATE_BINARY(__fadd_rd, float, +, FE_DOWNWARD)
EMULATE_BINARY(__fmul_ru, float, *, FE_UPWARD)
EMULATE_BINARY(__fmul_rd, float, *, FE_DOWNWARD)
EMULATE_SQRT(__fsqrt_ru, float, FE_UPWARD)
EMULATE_SQRT(__fsqrt_rd, float, FE_DOWNWARD)
EMULATE_SQRT(__dsqrt_ru, double, FE_UPWARD)
EMULATE_SQRT(__dsqrt_rd, double, FE_DOWNWARD)

inline int min(int a, int b) {
  return a < b ? a : b;
}
inline int max(int a, int b) {
  return a > b ? a : b;
}
inline unsigned min(unsigned a, unsigned b) {
  return a < b ? a : b;
}
inline unsigned max(unsigned a, unsigned b) {
  return a > b ? a : b;
}
inline long min(long a, long b) {
  return a < b ? a : b;
}
inline long max(long a, long b) {
  return a > b ? a : b;
}
inline float min(float a, float b) {
  return fminf(a, b);
}
inline float max(float a, float b) {
  return fmaxf(a, b);
}
inline double min(double a, double b) {
  return fmin(a, b);
}
inline double max(double a, double b) {
  return fmax(a, b);
}
inline int __vimin3_s32(int a, int b, int c) {
  return min(min(a, b), c);
}
