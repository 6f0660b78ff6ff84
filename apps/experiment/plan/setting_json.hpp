// The parts of a record that say what was asked for, and the hash that they make.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "experiment/config/setting.hpp"
#include "experiment/plan/dataset_cache.hpp"

namespace lloyd::experiment {

/// Where the samples come from: {"blobs": {...}} or {"file": ...} with the options of text files.
nlohmann::ordered_json source_json(const DatasetSetting& setting);
/// {"iterations": N}, or {"max_iterations": N, "tolerance": t}.
nlohmann::ordered_json stop_json(const FitOptions& options);

/// 16 hexadecimal digits, equal on every machine for equal settings: data, clusters, seeding,
/// restarts, stop, empty clusters, profile. A file counts by its name and fingerprint.
std::string hash_setting(const Setting& setting, const DatasetFacts& dataset);

/// 16 hexadecimal digits, equal for equal texts.
std::string hash_json(const nlohmann::ordered_json& json);

/// 16 hexadecimal digits.
std::string hex(std::uint64_t value);

}  // namespace lloyd::experiment
