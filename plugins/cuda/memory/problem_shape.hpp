// The ProblemShape of a data set. Needs no CUDA header.
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>

namespace lloyd_cuda {

/// The shape of a problem with k clusters on a data set.
inline lloyd::ProblemShape shape_of(const lloyd::DatasetView& dataset, std::int64_t clusters) {
  lloyd::ProblemShape shape;
  shape.samples = dataset.samples;
  shape.features = dataset.features;
  shape.stride = dataset.stride;
  shape.clusters = clusters;
  shape.dtype = dataset.dtype;
  return shape;
}

}  // namespace lloyd_cuda
