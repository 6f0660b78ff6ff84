// Scans one sample against the groups of centroids that its bounds leave open.
#pragma once

#include <cstdint>

#include "bounds/bounds.hpp"
#include "bounds/centroid_groups.hpp"
#include "common/instruction_set.hpp"

namespace lloyd_openmp {

/// The centroids that a lower bound covers.
enum class BoundKind {
  group,     ///< all centroids of a group except the sample's own: Yinyang (Ding et al. 2015)
  centroid,  ///< one centroid, by slot: Elkan (2003)
};

/// Lower bounds of one sample in stored form (bounds.hpp), one per group or slot.
struct GroupBounds {
  float* lower;
  const Drift* drift;  ///< per bound
};

/// The result of scanning a sample.
struct ScanResult {
  std::int32_t label;      ///< the nearest centroid, if proven
  bool proven;             ///< if false, `upper` and `lower` are unknown
  float upper;             ///< >= distance to the centroid of the label
  float lower;             ///< <= distance to any other centroid
  std::int64_t distances;  ///< number of screened distances
};

/// Scans a sample x of d features and updates its bounds. `own_squared`: squared distance to the
/// centroid of its label `own`, from measure_distances(). `origin`: d values. `workspace`: d
/// rounded up to a multiple of kGroupCentroids, plus groups x kGroupCentroids values, 64-byte
/// aligned.
template <class T>
ScanResult scan_sample(InstructionSet set, BoundKind kind, const T* x, std::int64_t d,
                       const T* origin, const GroupedCentroids<T>& centroids, std::int32_t own,
                       double own_squared, GroupBounds bounds, T* workspace);

}  // namespace lloyd_openmp
