// The properties that a backend reports and a plan relies on.
#pragma once

#include <map>
#include <string>

#include <lloyd/registry.hpp>

namespace lloyd::experiment {

/// Property values by name. Properties that depend on the machine's state, such as defaults and
/// devices, are excluded.
using BackendIdentity = std::map<std::string, std::string>;

/// Returns the identity of a backend as it is now.
BackendIdentity identity_of(const LoadedBackend& backend);

/// Throws Error, a sentence that lists the differences, if a planned property has changed.
void check_same(const BackendIdentity& planned, const BackendIdentity& now);

}  // namespace lloyd::experiment
