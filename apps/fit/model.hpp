// The model file: what `fit` writes and `predict` reads, with any backend.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lloyd::apps {

/// Stored as one JSON object:
/// {"format": "lloyd-model", "version": 1, "clusters": k, "features": d, "feature_names": [d texts,
/// see utf8_text()] or [], "centroids": k lists of d float64 numbers (shortest digits that read
/// back to the same bits), "inertia": number or null, "samples": n, "backend": name, "seeding":
/// {"method", "seed"}}. The entries after "centroids" say where the model came from; predict does
/// not need them.
struct Model {
  std::int64_t clusters = 0;
  std::int64_t features = 0;
  std::vector<std::string> feature_names;
  std::vector<double> centroids;  ///< k x d, row-major
  double inertia = 0;             ///< NaN where not known: the fit was interrupted
  std::int64_t samples = 0;
  std::string backend;
  std::string seeding_method;
  std::uint64_t seed = 0;
};

/// Throws Error when the file cannot be written; a former file is replaced only when the new one is
/// complete.
void write_model(const std::filesystem::path& file, const Model& model);

/// Throws InputError, naming the file, when it is not a complete model with finite centroids and as
/// many feature names as features, or none. A data file, such as the centroids that `fit` writes,
/// is taken as a model of its rows, with nothing known of where they came from.
/// `memory`: bytes that the process may use; not set: what the machine lets it use.
Model read_model(const std::filesystem::path& file,
                 std::optional<std::uint64_t> memory = std::nullopt);

}  // namespace lloyd::apps
