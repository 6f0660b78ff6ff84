// DatasetCache: makes the data sets of an experiment, one in memory at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <lloyd/dataset.hpp>

#include "experiment/config/setting.hpp"

namespace lloyd::experiment {

/// What planning needs to know of a data set.
struct DatasetFacts {
  std::string name;
  std::int64_t samples = 0;
  std::int64_t features = 0;
  std::int64_t stride = 0;
  DType dtype = DType::float32;
  std::uint64_t required_capabilities = 0;   ///< kCapability... bits
  std::optional<std::uint64_t> fingerprint;  ///< not known of blobs that are not made yet

  std::int64_t bytes() const { return samples * stride * size_of(dtype); }
};

class DatasetCache {
 public:
  /// Blobs are not finished once `stop`, which is asked again and again, says so.
  explicit DatasetCache(std::function<bool()> stop = {}) : stop_(std::move(stop)) {}

  /// Makes or reads the data set, or returns the last one again. The one before is freed first,
  /// unless somebody holds it. Throws InputError, at the data set's place, for a bad file, and
  /// Cancelled.
  std::shared_ptr<const Dataset> get(const DatasetSetting& setting);

  /// The same, and keeps nothing of it.
  std::shared_ptr<const Dataset> take(const DatasetSetting& setting);

  /// Reads a file for this, but makes no blobs.
  DatasetFacts facts(const DatasetSetting& setting);

 private:
  std::function<bool()> stop_;
  std::string key_;
  std::shared_ptr<const Dataset> last_;
  std::map<std::string, DatasetFacts> facts_;
};

}  // namespace lloyd::experiment
