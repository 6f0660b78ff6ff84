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
  apps::Descriptor classes;  ///< numbered by encode_classes(); invalid if there are none

  /// The descriptors to send with the description.
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

/// The class of each sample of that data set (n); empty if there are no classes. Throws like
/// receive_dataset().
std::vector<std::int32_t> receive_classes(const nlohmann::ordered_json& description,
                                          const std::vector<apps::Descriptor>& descriptors);

}  // namespace lloyd::experiment
