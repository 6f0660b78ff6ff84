// FP16 values of CUDA by the compiler's _Float16, which rounds to nearest even.
#pragma once

struct __half {
  _Float16 value;
  __half() = default;
  __half(float x) : value(static_cast<_Float16>(x)) {}
};
struct alignas(4) __half2 {
  __half x, y;
};

inline __half __double2half(double x) {
  __half half;
  half.value = static_cast<_Float16>(x);
  return half;
}
inline __half __float2half(float x) {
  return __half(x);
}
inline float __half2float(__half x) {
  return static_cast<float>(x.value);
}
inline __half2 __halves2half2(__half x, __half y) {
  return {x, y};
}
