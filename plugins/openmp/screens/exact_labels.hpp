// ExactLabeller: labels samples by the definition of the distance, in float64.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>

#include "common/instruction_set.hpp"
#include "common/tile.hpp"
#include "screens/float_screen.hpp"

namespace lloyd_openmp {

/// The exact fallback for samples whose labels no screen proves. T: type of the samples.
template <class T>
class ExactLabeller {
 public:
  /// The data that `dataset` refers to must outlive it.
  ExactLabeller(const lloyd::DatasetView& dataset, InstructionSet set)
      : dataset_(dataset), set_(set), zeros_(static_cast<std::size_t>(dataset.features)) {}

  /// From now on row i is at `data` + i * stride.
  void use_samples(const void* data) { dataset_.data = data; }

  /// `centroids`: k x d; they must stay valid while label() is called.
  void set_centroids(const double* centroids, std::int64_t k) {
    centroids_ = centroids;
    clusters_ = k;
  }

  /// Labels `count` (1 to kTile) rows. `tile`: scratch of d vectors; `labels`: kTile.
  void label(const std::int64_t* rows, std::int64_t count, TileVector<double>* tile,
             std::int32_t* labels) const {
    gather_tile(static_cast<const T*>(dataset_.data), dataset_.stride, rows, count,
                dataset_.features, zeros_.data(), tile);
    label_exactly(set_, tile, count, dataset_.features, centroids_, clusters_, labels);
  }

 private:
  lloyd::DatasetView dataset_;
  InstructionSet set_;
  std::vector<double> zeros_;  // the origin of the tile
  const double* centroids_ = nullptr;
  std::int64_t clusters_ = 0;
};

}  // namespace lloyd_openmp
