// Which device a rank uses if its host has several.
#pragma once

#include <span>

#include <lloyd/internal/ranks.hpp>
#include <lloyd/parameter_set.hpp>
#include <lloyd/plugin/abi/backend.hpp>

#include "options/backend_options.hpp"

namespace lloyd::apps {

/// The number of lower ranks on the host of this rank; collective.
int local_rank(const Ranks& ranks);

/// True if the backend has the parameter `device`, with another value than the default.
bool has_chosen_device(const ParameterSet& parameters);

/// Sets the parameter `device`, if the backend has it, to one of the `devices` that the backend
/// found: the ranks of a host are assigned to them round-robin. A device that the user has chosen
/// (`is_chosen`) stays that of all ranks. Collective, also for ranks whose backend has no devices.
void use_own_device(std::span<const DeviceInfo> devices, bool is_chosen, ParameterSet& parameters,
                    const Ranks& ranks);
/// The same for a command, whose user has chosen the device if the command line sets it.
void use_own_device(ChosenBackend& chosen, const Ranks& ranks);

}  // namespace lloyd::apps
