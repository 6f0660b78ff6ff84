#include "machine/ceilings/fma_kernels.hpp"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#else
#error "kernels are written for x86-64 and AArch64"
#endif

namespace lloyd::machine {
namespace {

// Number of independent dependency chains: at least pipes x latency (2 x 4 or 5 on x86-64, 4 x 4 on
// AArch64), and, with two more registers for constants, at most the number of registers.
#if defined(__x86_64__)
constexpr int kChains = 12;
#else
constexpr int kChains = 16;
#endif

// A macro, because target attributes and intrinsics cannot be template arguments.
#define LLOYD_FMA_KERNEL(function, attribute, Real, Vector, set, fma)             \
  attribute Real function(std::int64_t rounds, Real factor, Real addend) {        \
    const Vector factors = set(factor);                                           \
    const Vector addends = set(addend);                                           \
    Vector sums[kChains];                                                         \
    for (int i = 0; i < kChains; ++i) sums[i] = set(static_cast<Real>(i));        \
    for (std::int64_t round = 0; round < rounds; ++round) {                       \
      for (int i = 0; i < kChains; ++i) sums[i] = fma(sums[i], factors, addends); \
    }                                                                             \
    for (int i = 1; i < kChains; ++i) sums[0] = fma(sums[i], factors, sums[0]);   \
    Real lanes[sizeof(Vector) / sizeof(Real)];                                    \
    std::memcpy(lanes, &sums[0], sizeof(lanes));                                  \
    Real total = 0;                                                               \
    for (const Real lane : lanes) total += lane;                                  \
    return total;                                                                 \
  }

template <class Vector, class Real>
constexpr FmaKernel<Real> kernel(Real (*run)(std::int64_t, Real, Real)) {
  return {run, 2 * kChains * static_cast<std::int64_t>(sizeof(Vector) / sizeof(Real))};
}

#if defined(__x86_64__)

#define LLOYD_AVX512 __attribute__((target("avx512f")))
LLOYD_FMA_KERNEL(avx512_float32, LLOYD_AVX512, float, __m512, _mm512_set1_ps, _mm512_fmadd_ps)
LLOYD_FMA_KERNEL(avx512_float64, LLOYD_AVX512, double, __m512d, _mm512_set1_pd, _mm512_fmadd_pd)

#define LLOYD_AVX2 __attribute__((target("avx2,fma")))
LLOYD_FMA_KERNEL(avx2_float32, LLOYD_AVX2, float, __m256, _mm256_set1_ps, _mm256_fmadd_ps)
LLOYD_FMA_KERNEL(avx2_float64, LLOYD_AVX2, double, __m256d, _mm256_set1_pd, _mm256_fmadd_pd)

// Fallback: every x86-64 has SSE2, which has no fused operation.
#define LLOYD_MULTIPLY_ADD_PS(a, b, c) _mm_add_ps(_mm_mul_ps(a, b), c)
#define LLOYD_MULTIPLY_ADD_PD(a, b, c) _mm_add_pd(_mm_mul_pd(a, b), c)
LLOYD_FMA_KERNEL(sse2_float32, , float, __m128, _mm_set1_ps, LLOYD_MULTIPLY_ADD_PS)
LLOYD_FMA_KERNEL(sse2_float64, , double, __m128d, _mm_set1_pd, LLOYD_MULTIPLY_ADD_PD)

#else

#define LLOYD_FUSED_F32(a, b, c) vfmaq_f32(c, a, b)
#define LLOYD_FUSED_F64(a, b, c) vfmaq_f64(c, a, b)
LLOYD_FMA_KERNEL(neon_float32, , float, float32x4_t, vdupq_n_f32, LLOYD_FUSED_F32)
LLOYD_FMA_KERNEL(neon_float64, , double, float64x2_t, vdupq_n_f64, LLOYD_FUSED_F64)

#endif

}  // namespace

FmaKernels best_fma_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    return {"AVX-512", kernel<__m512, float>(avx512_float32),
            kernel<__m512d, double>(avx512_float64)};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {"AVX2", kernel<__m256, float>(avx2_float32), kernel<__m256d, double>(avx2_float64)};
  }
  return {"SSE2", kernel<__m128, float>(sse2_float32), kernel<__m128d, double>(sse2_float64)};
#else
  return {"NEON", kernel<float32x4_t, float>(neon_float32),
          kernel<float64x2_t, double>(neon_float64)};
#endif
}

}  // namespace lloyd::machine
