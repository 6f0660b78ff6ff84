// SettingFacts: what a reader must know of a setting to read its times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lloyd::experiment {

struct SettingFacts {
  std::string dataset;  ///< name of the data set
  std::int64_t samples = 0;
  std::int64_t features = 0;
  std::int64_t clusters = 0;
  std::optional<std::uint64_t> seed;  ///< of the seeding; none if its method uses none
  bool operator==(const SettingFacts&) const = default;
};

/// "iris.csv, n = 150, d = 4, k = 3, seed = 7".
std::string facts_text(const SettingFacts& facts);

/// One line for each data set, with the values of its settings: "iris.csv: n = 150; d = 4; k = 2,
/// 3; seed = 7". Names that are not printable are shown escaped.
std::vector<std::string> facts_lines(const std::vector<SettingFacts>& settings);

}  // namespace lloyd::experiment
