// LabelScreen: finds the nearest centroids of most samples in float32, with a proven error bound.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lloyd {

/// Compares a tile of samples with all centroids. Part of the checks, so it shares no code with the
/// plugins. Needs the default floating-point modes.
class LabelScreen {
 public:
  static constexpr std::int64_t kTile = 16;  ///< samples per tile

  /// What is known of a sample's nearest centroid, by the definition.
  struct Finding {
    bool screened = false;  ///< false: nothing is known, any centroid may be the nearest
    /// The centroids that can be the nearest, ascending. If there is one, it is the nearest.
    std::vector<std::int32_t> candidates;
  };

  /// Buffers of one thread.
  struct Workspace {
    std::vector<float> values;  ///< the tile: for each feature, the values of kTile samples
    double norms[kTile];        ///< upper bounds on the norms of the samples
    Finding findings[kTile];
  };

  /// `centroids`: k x d; only the constructor reads them. Takes 4 bytes per value.
  LabelScreen(std::span<const double> centroids, std::int64_t features);

  /// Fills `workspace.findings` for `count` samples (1 to kTile), given by their rows of d values.
  template <class T>
  void screen(const T* const* rows, std::int64_t count, Workspace& workspace) const;

 private:
  template <class T>
  void load(const T* const* rows, std::int64_t count, Workspace& workspace) const;
  double limit(double norm) const;

  std::int64_t features_;
  std::int64_t clusters_;
  std::vector<double> origin_;  ///< d
  std::vector<float> factors_;  ///< panels of kPanel centroids: for each feature, kPanel values
  std::vector<float> half_squares_;  ///< |e|^2 / 2 of each centroid; infinite for padding
  double max_norm_ = 0;              ///< upper bound on the norms of the centroids
  bool can_screen_ = false;          ///< the centroids can be screened
};

}  // namespace lloyd
