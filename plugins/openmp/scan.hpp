// Scans: samples that one bound does not settle, against centroids in groups or one by one, as far
// as bounds of these leave them open.
#pragma once

#include <cstdint>

#include "bounds.hpp"
#include "centroid_groups.hpp"
#include "instruction_set.hpp"

namespace lloyd_openmp {

/// What a lower bound is of.
enum class BoundKind {
  group,     ///< any centroid of a group but the own one: Yinyang (Ding et al. 2015)
  centroid,  ///< one centroid: Elkan (2003), for each slot
};

/// Lower bounds of one sample as they are stored (bounds.hpp), one for each group or slot.
struct GroupBounds {
  float* lower;
  const Drift* drift;  ///< of each
};

/// What a scan_sample found of a sample.
struct ScanResult {
  std::int32_t label;      ///< the nearest, where that is proven
  bool proven;             ///< otherwise no bound but those of groups is known
  float upper;             ///< at least the distance to it
  float lower;             ///< at most that to any other
  std::int64_t distances;  ///< screened
};

/// Scans a sample x of d features whose squared distance to the centroid of its label `own` is
/// `own_squared`, as measure_distances() gives it. Bounds are brought up to date. `origin`: d;
/// `workspace`: d, rounded up to kGroupCentroids, and groups x kGroupCentroids values, at a 64-byte
/// boundary.
template <class T>
ScanResult scan_sample(InstructionSet set, BoundKind of, const T* x, std::int64_t d,
                       const T* origin, const GroupedCentroids<T>& centroids, std::int32_t own,
                       double own_squared, GroupBounds bounds, T* workspace);

}  // namespace lloyd_openmp
