# Compiles the files of plugin_template/ into lloyd_apps, as new_plugin/plugin_template.hpp declares them.
# Folders are excluded: the template may have been built in place.
file(GLOB template_files CONFIGURE_DEPENDS LIST_DIRECTORIES false
  RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/plugin_template plugin_template/*)
set(entries "")
foreach(template_file IN LISTS template_files)
  set(path ${CMAKE_CURRENT_SOURCE_DIR}/plugin_template/${template_file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} text)
  string(APPEND entries "    {\"${template_file}\", R\"~lloyd~(${text})~lloyd~\"},\n")
endforeach()
file(CONFIGURE OUTPUT plugin_template_files.cpp @ONLY CONTENT [[
#include "new_plugin/plugin_template.hpp"

namespace lloyd::apps {

std::span<const TemplateFile> plugin_template() {
  static constexpr TemplateFile kFiles[] = {
@entries@  };
  return kFiles;
}

}  // namespace lloyd::apps
]])
target_sources(lloyd_apps PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/plugin_template_files.cpp)
