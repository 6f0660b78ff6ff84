// The files of apps/plugin_template/, which are compiled into the program.
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

/// All files of the folder, as they are there. Defined in a source that CMake makes of them.
std::span<const TemplateFile> plugin_template();

/// A text of the template as the files of a plugin have it: `name` in the place of the template's
/// own, `lloyd` (the folder of Lloyd, as a shell reads it) in that of its stand-in.
std::string fill_template(std::string_view text, std::string_view name, std::string_view lloyd);

}  // namespace lloyd::apps
