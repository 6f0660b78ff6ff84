// DatasetCache: generates or reads the data sets of an experiment, one in memory at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/standardize.hpp>

#include "experiment/config/setting.hpp"

namespace lloyd::experiment {

/// The properties of a data set that planning needs.
struct DatasetFacts {
  std::string name;
  std::int64_t samples = 0;
  std::int64_t features = 0;
  std::int64_t stride = 0;
  DType dtype = DType::float32;
  std::uint64_t required_capabilities = 0;   ///< kCapability... bits
  std::optional<std::uint64_t> fingerprint;  ///< none for blobs that have not been generated
  std::vector<std::string> feature_names;    ///< of a file; may be empty
  /// How the features of a file are standardized, if they are.
  std::optional<Standardization> standardization;

  std::int64_t bytes() const { return samples * stride * size_of(dtype); }
};

class DatasetCache {
 public:
  /// `stop` is polled while blobs are generated or a text file is read; once it returns true,
  /// Cancelled is thrown.
  explicit DatasetCache(std::function<bool()> stop = {}) : stop_(std::move(stop)) {}

  /// Returns the data set, which is generated or read unless it is the last one returned. The
  /// previous one is freed first unless the caller still holds it. Throws InputError at the data
  /// set's place for a bad file, and Cancelled. The first time that a file is read, notes on
  /// standard error how many of its rows were left out, and prints its data_warnings().
  std::shared_ptr<const Dataset> get(const DatasetSetting& setting);

  /// As get(), but the cache keeps no reference.
  std::shared_ptr<const Dataset> take(const DatasetSetting& setting);

  /// Reads the file if there is one, but does not generate blobs.
  DatasetFacts facts(const DatasetSetting& setting);

 private:
  std::function<bool()> stop_;
  std::string key_;
  std::shared_ptr<const Dataset> last_;
  std::map<std::string, DatasetFacts> facts_;
  std::map<std::string, Standardization> maps_;  // of standardized data sets, by key
  std::set<std::filesystem::path> noted_;        ///< files whose notes and warnings were printed
};

}  // namespace lloyd::experiment
