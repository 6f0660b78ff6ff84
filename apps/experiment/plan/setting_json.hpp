// The parts of a record that describe the requested fit, and their hash.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "experiment/config/setting.hpp"
#include "experiment/plan/dataset_cache.hpp"

namespace lloyd::experiment {

/// The source of the samples: {"blobs": {...}} or {"file": ...} with the options of text files.
nlohmann::ordered_json source_json(const DatasetSetting& setting);
/// {"iterations": N}, or {"max_iterations": N, "tolerance": t}.
nlohmann::ordered_json stop_json(const FitOptions& options);

/// Returns 16 hexadecimal digits, equal on every machine for equal settings: data, clusters,
/// seeding, restarts, stop, empty clusters, profile, cold L2. A file is identified by its name and
/// fingerprint.
std::string hash_setting(const Setting& setting, const DatasetFacts& dataset);

/// Returns 16 hexadecimal digits, equal for equal texts.
std::string hash_json(const nlohmann::ordered_json& json);

/// Returns 16 hexadecimal digits.
std::string hex(std::uint64_t value);

}  // namespace lloyd::experiment
