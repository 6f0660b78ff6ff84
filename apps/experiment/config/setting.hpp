// Setting: all that defines a fit but the backend.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/data/blobs.hpp>
#include <lloyd/data/csv.hpp>
#include <lloyd/fit.hpp>

#include "experiment/yaml/config_node.hpp"

namespace lloyd::experiment {

/// Where the samples come from: blobs or a file.
struct DatasetSetting {
  std::optional<BlobsSpec> blobs;
  std::filesystem::path file;  ///< as it can be opened
  CsvOptions csv;              ///< how to read a text file
  std::string hdf5_dataset;    ///< which data set of an HDF5 file to read; may be empty
  Place place;

  /// Equal for equal sources.
  std::string key() const;
};

/// A swept key and the value it has in one setting.
struct AxisValue {
  std::string path;  ///< e.g. "dataset.blobs.samples"
  std::string value;
  bool operator==(const AxisValue&) const = default;
};

struct Setting {
  DatasetSetting dataset;
  FitOptions options;  ///< seeding.centroids are read later, see plan.hpp
  std::vector<AxisValue> axes;
  Place clusters_place;
  Place seeding_place;
};

/// Reads the keys of a setting from a configuration's document; the sweep has been applied. Opens
/// no files; relative ones are taken from `folder`. Throws InputError at what is wrong.
Setting read_setting(const ConfigNode& document, const std::filesystem::path& folder);

/// The keys of a document that define a setting: those that can be swept.
const std::vector<std::string>& setting_keys();

/// Turns `seeding: random` into `seeding: {method: random}`.
void expand_seeding(ConfigNode& document);

}  // namespace lloyd::experiment
