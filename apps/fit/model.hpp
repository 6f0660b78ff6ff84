// The model file: written by `fit`, read by `predict`, independent of the backend.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/data/row_views.hpp>

namespace lloyd::apps {

/// Stored as one JSON object:
/// {"format": "lloyd-model", "version": 1, or 2 with "standardization", "clusters": k, "features":
/// d,
///  "feature_names": [d texts, see utf8_text()] or [],
///  "centroids": k lists of d float64 numbers (shortest digits that read back to the same bits),
///  "standardization": {"mean": d numbers, "deviation": d numbers above 0}, if any,
///  "inertia": number or null, "samples": n, "backend": name, "seeding": {"method", "seed"}}
/// The entries after "centroids" record the model's origin; `predict` does not need them.
struct Model {
  std::int64_t clusters = 0;
  std::int64_t features = 0;
  std::vector<std::string> feature_names;
  std::vector<double> centroids;  ///< k x d, row-major; in standardized units if it has a map
  std::optional<Standardization> standardization = std::nullopt;  ///< map of the samples, if any
  double inertia = 0;        ///< NaN if unknown: the fit was interrupted
  std::int64_t samples = 0;  ///< of the data set that was clustered
  std::string backend;
  std::string seeding_method;
  std::uint64_t seed = 0;
};

/// Throws Error if the file cannot be written. An existing file is replaced only once the new one
/// is complete.
void write_model(const std::filesystem::path& file, const Model& model);

/// Throws InputError, naming the file, unless it is a complete model with finite centroids and
/// either no feature names or one for each feature. A data file, such as the centroids that `fit`
/// writes, is read as a model whose centroids are its rows and whose origin is unknown. `memory`:
/// bytes of the whole process; not set: its usable memory.
Model read_model(const std::filesystem::path& file,
                 std::optional<std::uint64_t> memory = std::nullopt);

}  // namespace lloyd::apps
