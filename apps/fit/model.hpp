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

/// A sentence if `file`, the data file that `model` was read from, lies beside the model.json of a
/// standardized fit of the same shape: samples are not scaled for centroids alone. Otherwise empty.
std::string scaling_warning(const std::filesystem::path& file, const Model& model);

}  // namespace lloyd::apps
