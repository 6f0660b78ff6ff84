// What a backend says of itself that a plan relies on.
#pragma once

#include <map>
#include <string>

#include <lloyd/registry.hpp>

namespace lloyd::experiment {

/// Values by name. What the machine's state may change, such as defaults and devices, is not there.
using BackendIdentity = std::map<std::string, std::string>;

BackendIdentity identity_of(const LoadedBackend& backend);

/// Throws Error, a sentence that names what is different, where they are not the same.
void check_same(const BackendIdentity& planned, const BackendIdentity& now);

}  // namespace lloyd::experiment
