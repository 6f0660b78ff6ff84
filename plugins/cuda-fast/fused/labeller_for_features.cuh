// Selects the ExactLabeller for a number of features.
#pragma once

#include "cuda-fast/fused/exact_labeller.cuh"

namespace lloyd_cuda_fast {

/// Calls body.operator()<Labeller>() with the ExactLabeller for d <= kFusedMaxFeatures features.
template <class T, class Body>
void with_labeller(std::int64_t features, const Body& body) {
  switch (features) {
    case 1:
      return body.template operator()<ExactLabeller<T, 1, false>>();
    case 2:
      return body.template operator()<ExactLabeller<T, 2, false>>();
    case 3:
      return body.template operator()<ExactLabeller<T, 3, false>>();
    case 4:
      return body.template operator()<ExactLabeller<T, 4, false>>();
    case 8:
      return body.template operator()<ExactLabeller<T, 8, false>>();
    case 16:
      return body.template operator()<ExactLabeller<T, 16, false>>();
    default:
      break;
  }
  if (features < 8) return body.template operator()<ExactLabeller<T, 8, true>>();
  if (features <= 12) return body.template operator()<ExactLabeller<T, 12, true>>();
  return body.template operator()<ExactLabeller<T, 16, true>>();
}

}  // namespace lloyd_cuda_fast
