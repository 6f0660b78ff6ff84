// The matrix instructions, by the PTX ISA: ldmatrix, mma.sync and wgmma.
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>

#include "emulation.hpp"

namespace emulation {
namespace {

const float* half_values() {
  static const float* const values = [] {
    auto* const table = new float[65536];
    for (unsigned i = 0; i < 65536; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      table[i] = static_cast<float>(std::bit_cast<_Float16>(bits));
    }
    return table;
  }();
  return values;
}
float half_at(unsigned word, int index) {
  return half_values()[word >> (16 * index) & 0xffff];
}

// The sum of 16 products and an accumulator, as pessimistic as any tensor core: every addend is cut
// off at 2^-23 of the largest one, and the sum is rounded towards zero.
float accumulate(const float* a, const float* b, float sum) {
  double addends[17];
  double largest = 0;
  bool finite = true;
  for (int k = 0; k < 17; ++k) {
    addends[k] =
        k < 16 ? static_cast<double>(a[k]) * static_cast<double>(b[k]) : static_cast<double>(sum);
    const double size = fabs(addends[k]);
    largest = size > largest ? size : largest;
    finite &= size <= 0x1p127;
  }
  if (!finite) {
    double total = 0;
    for (const double addend : addends) total += addend;
    return static_cast<float>(total);
  }
  if (largest == 0) return 0;
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(largest) >> 52 & 0x7ff) - 1023;
  const auto power = [](int e) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
  };
  const double to_integer = power(23 - exponent);
  std::int64_t total = 0;
  for (const double addend : addends) total += static_cast<std::int64_t>(addend * to_integer);
  std::uint64_t size = static_cast<std::uint64_t>(total < 0 ? -total : total);
  const int bits = 64 - std::countl_zero(size);
  if (bits > 24) size = size >> (bits - 24) << (bits - 24);
  const double result = static_cast<double>(size) * power(exponent - 23);
  return static_cast<float>(total < 0 ? -result : result);
}

}  // namespace

// PTX ISA, ldmatrix: thread i passes the address of row i % 8 of matrix i / 8, and receives of each
// matrix elements 2 (i % 4) and 2 (i % 4) + 1 of row i / 4.
void ldmatrix_x4(unsigned& x, unsigned& y, unsigned& z, unsigned& w, std::uint32_t address) {
  struct Call {
    std::uint32_t address;
    unsigned result[4];
  } call{address, {}};
  rendezvous(
      0xffffffffu,
      [](void* const* calls, std::uint64_t) {
        for (int matrix = 0; matrix < 4; ++matrix) {
          for (int row = 0; row < 8; ++row) {
            const std::uint32_t from = static_cast<Call*>(calls[matrix * 8 + row])->address;
            if (from % 16 != 0) fail("ldmatrix: misaligned row");
            const unsigned char* const bytes = at_shared_address(from, 16);
            for (int pair = 0; pair < 4; ++pair) {
              std::memcpy(&static_cast<Call*>(calls[row * 4 + pair])->result[matrix],
                          bytes + pair * 4, 4);
            }
          }
        }
      },
      &call, "ldmatrix");
  x = call.result[0];
  y = call.result[1];
  z = call.result[2];
  w = call.result[3];
}

// PTX ISA, fragments of mma.m16n8k16 with f16 operands: g = lane / 4, t = lane % 4.
void mma_m16n8k16(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned a2,
                  unsigned a3, unsigned b0, unsigned b1) {
  struct Call {
    float d[4];
    unsigned a[4];
    unsigned b[2];
  } call{{d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}};
  rendezvous(
      0xffffffffu,
      [](void* const* calls, std::uint64_t) {
        float a[16][16];
        float b[8][16];
        for (int lane = 0; lane < 32; ++lane) {
          const Call& c = *static_cast<Call*>(calls[lane]);
          const int g = lane / 4;
          const int t = lane % 4;
          for (int e = 0; e < 2; ++e) {
            a[g][2 * t + e] = half_at(c.a[0], e);
            a[g + 8][2 * t + e] = half_at(c.a[1], e);
            a[g][2 * t + 8 + e] = half_at(c.a[2], e);
            a[g + 8][2 * t + 8 + e] = half_at(c.a[3], e);
            b[g][2 * t + e] = half_at(c.b[0], e);
            b[g][2 * t + 8 + e] = half_at(c.b[1], e);
          }
        }
        for (int lane = 0; lane < 32; ++lane) {
          Call& c = *static_cast<Call*>(calls[lane]);
          const int g = lane / 4;
          const int t = lane % 4;
          for (int e = 0; e < 2; ++e) {
            c.d[e] = accumulate(a[g], b[2 * t + e], c.d[e]);
            c.d[2 + e] = accumulate(a[g + 8], b[2 * t + e], c.d[2 + e]);
          }
        }
      },
      &call, "mma");
  d0 = call.d[0];
  d1 = call.d[1];
  d2 = call.d[2];
  d3 = call.d[3];
}

// PTX ISA, wgmma.m64nNk16 with A in registers and B in shared memory, K-major with the 128-byte
// swizzle: rows of 128 bytes in groups of 8, bits 4 to 6 of an address XOR bits 7 to 9.
void wgmma(Wgmma& call) {
  rendezvous(
      kWarpgroup,
      [](void* const* calls, std::uint64_t) {
        const std::uint64_t descriptor = static_cast<Wgmma*>(calls[0])->descriptor;
        const int adds = static_cast<Wgmma*>(calls[0])->adds;
        if (descriptor >> 62 != 1) fail("wgmma: not the 128-byte swizzle");
        if ((descriptor >> 49 & 7) != 0) fail("wgmma: a base offset");
        const auto start = static_cast<std::uint32_t>(descriptor & 0x3fff) << 4;
        const auto stride = static_cast<std::uint32_t>(descriptor >> 32 & 0x3fff) << 4;
        static float b[128][16];
        const int accumulators = static_cast<Wgmma*>(calls[0])->accumulators;
        for (std::uint32_t n = 0; n < static_cast<std::uint32_t>(2 * accumulators); ++n) {
          for (std::uint32_t k = 0; k < 16; ++k) {
            std::uint32_t address = start + n / 8 * stride + n % 8 * 128 + k * 2;
            address ^= (address >> 7 & 7) << 4;
            std::uint16_t half;
            std::memcpy(&half, at_shared_address(address, 2), 2);
            b[n][k] = half_at(half, 0);
          }
        }
        static float a[64][16];
        for (int lane = 0; lane < 128; ++lane) {
          const Wgmma& c = *static_cast<Wgmma*>(calls[lane]);
          if (c.descriptor != descriptor || c.adds != adds) {
            fail("wgmma: the threads of a warpgroup have different operands");
          }
          const int row = lane / 32 * 16 + lane % 32 / 4;
          const int column = lane % 4 * 2;
          for (int e = 0; e < 2; ++e) {
            a[row][column + e] = half_at(c.a[0], e);
            a[row + 8][column + e] = half_at(c.a[1], e);
            a[row][column + 8 + e] = half_at(c.a[2], e);
            a[row + 8][column + 8 + e] = half_at(c.a[3], e);
          }
        }
        for (int lane = 0; lane < 128; ++lane) {
          Wgmma& c = *static_cast<Wgmma*>(calls[lane]);
          for (int i = 0; i < accumulators; ++i) {
            const int row = lane / 32 * 16 + lane % 32 / 4 + i / 2 % 2 * 8;
            const int column = i / 4 * 8 + lane % 4 * 2 + i % 2;
            *c.d[i] = accumulate(a[row], b[column], adds != 0 ? *c.d[i] : 0);
          }
        }
      },
      &call, "wgmma");
}

}  // namespace emulation
