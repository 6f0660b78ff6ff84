// The files of apps/plugin_template/ and apps/cuda_plugin_template/, compiled into the program.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace lloyd::apps {

struct TemplateFile {
  std::string_view name;
  std::string_view text;
};

/// All files of apps/plugin_template/, unchanged. Defined in a source that CMake generates.
std::span<const TemplateFile> plugin_template();
/// All files of apps/cuda_plugin_template/, likewise.
std::span<const TemplateFile> cuda_plugin_template();

/// Replaces the template's name by `name` and its placeholder for Lloyd's folder by `lloyd`, which
/// must be quoted for a shell.
std::string fill_template(std::string_view text, std::string_view name, std::string_view lloyd);

}  // namespace lloyd::apps
