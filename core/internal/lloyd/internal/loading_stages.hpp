// load_plugin() with a report of the plugin's function that runs next.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include <lloyd/registry.hpp>

namespace lloyd {

/// The parts of a plugin that run while it is loaded, in this order.
enum class LoadingStage { constructors, probe, create, info };

/// As load_plugin(). Calls on_stage(stage) before each stage.
std::unique_ptr<LoadedBackend> load_plugin(const std::filesystem::path& file,
                                           const std::function<void(LoadingStage stage)>& on_stage);

}  // namespace lloyd
