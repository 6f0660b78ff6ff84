// The backends whose kernels may seed fits of other backends.
#pragma once

#include <memory>
#include <vector>

#include <lloyd/registry.hpp>

#include "options/context.hpp"

namespace lloyd::apps {

/// The available backends, those without a GPU first: they open a data set faster. Their plugins
/// are loaded in separate processes, which have ended on return.
std::vector<std::shared_ptr<const LoadedBackend>> available_seeding_backends(
    const Context& context);

}  // namespace lloyd::apps
