// Makes programs find the plugins and modules of the installation that they were built with.
#pragma once

#include <filesystem>

namespace lloyd {

/// Appends a folder to Registry::default_folders() of this process, unless it is there. In a
/// program that links the target Lloyd::core of find_package(Lloyd), the plugin folder of that
/// installation is added during static initialization. Returns true.
bool add_plugin_folder(const std::filesystem::path& folder);

#ifdef LLOYD_PLUGIN_FOLDER
namespace detail {
// LLOYD_PLUGIN_FOLDER is a compile definition of the imported target Lloyd::core. Not inline: a
// process has only one copy of an inline variable, even if several of its shared libraries contain
// a core, each with folders of its own.
[[maybe_unused]] static const bool kPluginFolderAdded = add_plugin_folder(LLOYD_PLUGIN_FOLDER);
}  // namespace detail
#endif

}  // namespace lloyd
