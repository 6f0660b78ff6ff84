// Setting: everything that defines a fit except the backend.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/data/blobs.hpp>
#include <lloyd/data/csv.hpp>
#include <lloyd/data/sample_rows.hpp>
#include <lloyd/fit.hpp>

#include "experiment/yaml/config_node.hpp"

namespace lloyd::experiment {

/// The source of the samples: blobs or a file.
struct DatasetSetting {
  std::optional<BlobsSpec> blobs;
  std::filesystem::path file;  ///< resolved, ready to be opened
  CsvOptions csv;              ///< options for text files
  std::string array_name;      ///< data set in an HDF5 file, or array in an .npz file; may be empty
  RowSampling sampling;        ///< of a file; applied before `standardize`
  bool standardize = false;    ///< give each feature mean 0 and standard deviation 1
  Place place;
  Place samples_place;  ///< of sampling.samples

  /// A key that is equal for equal sources.
  std::string key() const;
  /// A key that is equal for sources that read the same samples of a file before they choose some
  /// and standardize them.
  std::string file_key() const;
  /// True if all samples are used, in the order of the source.
  bool takes_all_rows() const { return !sampling.samples && !sampling.shuffle; }
};

/// An axis, and its value in one setting.
struct AxisValue {
  std::string path;  ///< e.g. "dataset.blobs.samples"
  std::string value;
  bool operator==(const AxisValue&) const = default;
};

struct Setting {
  DatasetSetting dataset;
  FitOptions options;    ///< seeding.centroids are read by make_plan(), see plan.hpp
  bool cold_l2 = false;  ///< evict the L2 of a GPU before each timed fit
  std::vector<AxisValue> axes;
  Place clusters_place;
  Place seeding_place;
};

/// Reads the keys of a setting from a document to which one combination of axis values has been
/// applied. Opens no files; relative paths are resolved against `folder`. Throws InputError for
/// wrong values.
Setting read_setting(const ConfigNode& document, const std::filesystem::path& folder);

/// The keys of a document that define a setting; only these can be axes.
const std::vector<std::string>& setting_keys();

/// Rewrites `seeding: random` to `seeding: {method: random}`.
void expand_seeding(ConfigNode& document);

/// True if setting `key` to `value` sets the key `path`, which is `key` or below it, as
/// 'seeding: {seed: 1}' sets 'seeding.seed'. A scalar value of 'seeding' sets 'seeding.method'.
bool sets_path(const std::string& key, const ConfigNode& value, std::string_view path);

}  // namespace lloyd::experiment
