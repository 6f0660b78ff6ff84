// SettingFacts: what a reader must know of a setting to read its times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiment/record/fit_digest.hpp"

namespace lloyd::experiment {

struct SettingFacts {
  std::string dataset;  ///< name of the data set
  std::int64_t samples = 0;
  std::int64_t features = 0;
  std::int64_t clusters = 0;
  std::optional<std::uint64_t> seed;         ///< of the seeding; none if its method uses none
  std::vector<ChangedSetting> changed = {};  ///< see changed_settings()
  bool operator==(const SettingFacts&) const = default;
};

SettingFacts setting_facts_of(const FitDigest& fit);

/// A setting and its default.
struct SettingDefault {
  std::string path;              ///< as in an experiment file: "dataset.standardize"
  nlohmann::ordered_json value;  ///< the default; null if the key has none
};

/// The settings of any of these that differ from their defaults, in the order of their first
/// appearance.
std::vector<SettingDefault> defaults_of(const std::vector<SettingFacts>& settings);
/// The value of a setting, given its default by defaults_of().
nlohmann::ordered_json value_of(const SettingFacts& facts, const SettingDefault& setting_default);
/// The name of a key in texts: "standardize" for "dataset.standardize".
std::string setting_key_text(const std::string& path);
/// A value as text: "a,b" for a list, "none" for null.
std::string setting_value_text(const nlohmann::ordered_json& value);

/// "iris.csv, n = 150, d = 4, k = 3, seed = 7, standardize = true". `stated` holds the settings to
/// name, from defaults_of().
std::string facts_text(const SettingFacts& facts, const std::vector<SettingDefault>& stated);

/// One line for each data set, with the values of its settings: "iris.csv: n = 150; d = 4; k = 2,
/// 3; seed = 7; standardize = true". Settings of the data set and the fit are stated if they differ
/// from their defaults. Names that are not printable are shown escaped.
std::vector<std::string> facts_lines(const std::vector<SettingFacts>& settings);

}  // namespace lloyd::experiment
