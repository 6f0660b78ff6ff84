// SharedDataset: a data set in shared memory, read by several processes.
#pragma once

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
};

/// Moves the values of an in-memory data set to shared memory; values mapped from a file stay
/// there. The result owns the data set, and the original memory is freed unless it has another
/// owner. Throws Error.
SharedDataset share_dataset(std::shared_ptr<const Dataset> dataset);

/// Maps a data set from its description and the descriptors of values and statistics, in the
/// receiving process. Its features have no names. Throws Error, or InputError for an invalid
/// description.
std::unique_ptr<const Dataset> receive_dataset(const nlohmann::ordered_json& description,
                                               const std::vector<apps::Descriptor>& descriptors);

}  // namespace lloyd::experiment
