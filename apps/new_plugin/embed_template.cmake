# Compiles the files of plugin_template/ and cuda_plugin_template/ into lloyd_apps (declared in
# new_plugin/plugin_template.hpp). Folders are skipped: a template may have been built in place.
foreach(template IN ITEMS plugin_template cuda_plugin_template)
  file(GLOB template_files CONFIGURE_DEPENDS LIST_DIRECTORIES false
    RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/${template} ${template}/*)
  set(entries "")
  foreach(template_file IN LISTS template_files)
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/${template}/${template_file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} text)
    string(APPEND entries "    {\"${template_file}\", R\"~lloyd~(${text})~lloyd~\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${template}_files.cpp @ONLY CONTENT [[
#include "new_plugin/plugin_template.hpp"

namespace lloyd::apps {

std::span<const TemplateFile> @template@() {
  static constexpr TemplateFile kFiles[] = {
@entries@  };
  return kFiles;
}

}  // namespace lloyd::apps
]])
  target_sources(lloyd_apps PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${template}_files.cpp)
endforeach()
