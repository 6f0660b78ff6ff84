// SharedDataset: a data set whose values several processes read in one place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <lloyd/dataset.hpp>

#include "ipc/descriptor.hpp"

namespace lloyd::experiment {

/// What another process needs to have the data set.
struct SharedDataset {
  std::shared_ptr<const Dataset> dataset;
  nlohmann::ordered_json description;
  apps::Descriptor values;
  apps::Descriptor statistics;
};

/// Moves the values of a data set in memory to where others can read them; `dataset` is the
/// result's then, and what it held is freed unless somebody else has it. Values that are mapped
/// from a file stay there. Throws Error.
SharedDataset share_dataset(std::shared_ptr<const Dataset> dataset);

/// The data set in the process that received the description and the descriptors of values and
/// statistics; its features have no names. Throws Error, or InputError where the description is
/// none.
std::unique_ptr<const Dataset> receive_dataset(const nlohmann::ordered_json& description,
                                               const std::vector<apps::Descriptor>& descriptors);

}  // namespace lloyd::experiment
