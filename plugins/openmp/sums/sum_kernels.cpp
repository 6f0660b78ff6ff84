// Compiled once per instruction set; InstructionSet selects one at run time.
#include "sums/sum_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "common/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sums/sum_kernels.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "sums/sum_groups-inl.hpp"
#include "sums/sum_limbs-inl.hpp"
#include "sums/sum_runs-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lloyd_openmp {
namespace HWY_NAMESPACE {

template <class T>
HWY_INLINE void add(const T* data, std::int64_t stride, std::int64_t rows,
                    const std::int32_t* labels, const lloyd::SumLayout& given, std::int64_t* sums,
                    std::int64_t* counts) {
  const lloyd::SumLayout layout =
      given;  // a local copy: GCC 12 would reload `given` after each store
  for (std::int64_t i = 0; i < rows; ++i) ++counts[labels[i]];
  if (layout.features >= kMinBatchedFeatures) {
    for (std::int64_t begin = 0; begin < rows; begin += kMaxBatchedSamples) {
      add_batch<T>(
          std::min(kMaxBatchedSamples, rows - begin),
          [&](std::int64_t i) { return labels[begin + i]; },
          [&](std::int64_t i) { return data + (begin + i) * stride; }, layout, sums);
    }
    return;
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    add_sample(data + i * stride, layout, sums + labels[i] * layout.features, 0, layout.features);
  }
}

template <class T>
HWY_INLINE void move(const T* data, std::int64_t stride, const lloyd::LabelChange* changes,
                     std::int64_t count, const lloyd::SumLayout& given, std::int64_t* sums,
                     std::int64_t* counts) {
  const lloyd::SumLayout layout = given;  // as above
  static_assert(kMaxRunFeatures == 3);
  if (stride == layout.features && stride <= kMaxRunFeatures && count >= kMinRunSamples) {
    if (stride == 1) {
      move_runs<1>(data, changes, count, layout, sums, counts);
    } else if (stride == 2) {
      move_runs<2>(data, changes, count, layout, sums, counts);
    } else {
      move_runs<3>(data, changes, count, layout, sums, counts);
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (changes[i].from >= 0) --counts[changes[i].from];
    ++counts[changes[i].to];
  }
  if (layout.features >= kMinBatchedFeatures) {
    for (std::int64_t begin = 0; begin < count; begin += kMaxBatchedSamples) {
      move_batch(data, stride, changes + begin, std::min(kMaxBatchedSamples, count - begin), layout,
                 sums);
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [row, from, to] = changes[i];
    move_sample(data + row * stride, layout, from < 0 ? nullptr : sums + from * layout.features,
                sums + to * layout.features, 0, layout.features);
  }
}

void add_float(const float* data, std::int64_t stride, std::int64_t rows,
               const std::int32_t* labels, const lloyd::SumLayout& layout, std::int64_t* sums,
               std::int64_t* counts) {
  add(data, stride, rows, labels, layout, sums, counts);
}
void add_double(const double* data, std::int64_t stride, std::int64_t rows,
                const std::int32_t* labels, const lloyd::SumLayout& layout, std::int64_t* sums,
                std::int64_t* counts) {
  add(data, stride, rows, labels, layout, sums, counts);
}
void move_float(const float* data, std::int64_t stride, const lloyd::LabelChange* changes,
                std::int64_t count, const lloyd::SumLayout& layout, std::int64_t* sums,
                std::int64_t* counts) {
  move(data, stride, changes, count, layout, sums, counts);
}
void move_double(const double* data, std::int64_t stride, const lloyd::LabelChange* changes,
                 std::int64_t count, const lloyd::SumLayout& layout, std::int64_t* sums,
                 std::int64_t* counts) {
  move(data, stride, changes, count, layout, sums, counts);
}

}  // namespace HWY_NAMESPACE
}  // namespace lloyd_openmp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lloyd_openmp {

HWY_EXPORT(add_float);
HWY_EXPORT(add_double);
HWY_EXPORT(move_float);
HWY_EXPORT(move_double);

template <>
lloyd::SumKernels<float> sum_kernels(InstructionSet set) {
  return {&LLOYD_DISPATCH(set, add_float), &LLOYD_DISPATCH(set, move_float)};
}
template <>
lloyd::SumKernels<double> sum_kernels(InstructionSet set) {
  return {&LLOYD_DISPATCH(set, add_double), &LLOYD_DISPATCH(set, move_double)};
}

}  // namespace lloyd_openmp
#endif  // HWY_ONCE
