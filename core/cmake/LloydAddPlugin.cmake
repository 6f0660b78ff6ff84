# lloyd_add_plugin(<name> SOURCES <file>... [VERSION <version>] [LINK <library>...])
#
# Builds the backend <name> as the module library lloyd_<name>.so (target lloyd_<name>). The name in
# the plugin is <name>, so a folder that passes its own name can be copied under another.
function(lloyd_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "VERSION" "SOURCES;LINK")
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "lloyd_add_plugin(${name}): no SOURCES given")
  endif()
  if(NOT name MATCHES "^[a-z][a-z0-9-]*$")
    message(FATAL_ERROR "lloyd_add_plugin(${name}): the name must be lower-case letters, digits and '-'")
  endif()
  if(NOT arg_VERSION)
    set(arg_VERSION ${PROJECT_VERSION})
  endif()
  set(target lloyd_${name})
  add_library(${target} MODULE ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES
    PREFIX ""
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "$ORIGIN")
  target_compile_definitions(${target} PRIVATE
    LLOYD_PLUGIN_NAME="${name}" LLOYD_PLUGIN_VERSION="${arg_VERSION}")
  target_link_libraries(${target} PRIVATE lloyd_plugin_sdk ${arg_LINK})
  if(TARGET lloyd_compile_options)
    target_link_libraries(${target} PRIVATE lloyd_compile_options)
  endif()
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,nodelete)
  if(NOT LLOYD_SANITIZE)
    # A sanitizer's runtime is in the program, so its symbols are undefined in a plugin.
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION lib/lloyd)
  set_property(GLOBAL APPEND PROPERTY LLOYD_PLUGIN_TARGETS ${target})
endfunction()
