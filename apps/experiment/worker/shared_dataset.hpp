// SharedDataset: a data set in shared memory, read by several processes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <lloyd/dataset.hpp>

#include "ipc/descriptor.hpp"

namespace lloyd::experiment {

/// A data set, and the description and descriptors from which another process maps it.
struct SharedDataset {
  std::shared_ptr<const Dataset> dataset;
  nlohmann::ordered_json description;
  apps::Descriptor values;
  apps::Descriptor statistics;
  apps::Descriptor classes;  ///< as encode_classes() numbers them; invalid: there are none

  /// Those that accompany the description.
  std::vector<int> descriptors() const;
};

/// Moves the values of an in-memory data set to shared memory; values mapped from a file stay
/// there. The result owns the data set, and the original memory is freed unless it has another
/// owner. Throws Error.
SharedDataset share_dataset(std::shared_ptr<const Dataset> dataset);

/// Maps a data set from its description and SharedDataset::descriptors(), in the receiving process.
/// It has neither feature names nor classes. Throws Error, or InputError for an invalid
/// description.
std::unique_ptr<const Dataset> receive_dataset(const nlohmann::ordered_json& description,
                                               const std::vector<apps::Descriptor>& descriptors);

/// The classes of the samples of that data set, n numbers; empty if there are none. Throws as
/// receive_dataset().
std::vector<std::int32_t> receive_classes(const nlohmann::ordered_json& description,
                                          const std::vector<apps::Descriptor>& descriptors);

}  // namespace lloyd::experiment
