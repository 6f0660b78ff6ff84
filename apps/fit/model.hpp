// Reading the model of `lloyd predict`: a model file or a data file of centroids.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <lloyd/model.hpp>

namespace lloyd::apps {

/// Reads a model file, see Model::load(). A data file, such as the centroids that `fit` writes, is
/// read as a model whose centroids are its rows and whose origin is unknown. `memory`: bytes of the
/// whole process; not set: its usable memory. Throws InputError, naming the file.
Model read_model(const std::filesystem::path& file,
                 std::optional<std::uint64_t> memory = std::nullopt);

/// A warning if `model` was read from the data file `file`, and a model.json in the same folder has
/// a scaling and as many clusters and features: `file` was probably written by that fit, and lacks
/// the scaling. Otherwise empty.
std::string scaling_warning(const std::filesystem::path& file, const Model& model);

}  // namespace lloyd::apps
