# lloyd_add_plugin(<name> SOURCES <file>... [VERSION <version>] [LINK <library>...])
#
# Builds the backend <name> as the module library lloyd_<name>.so (target lloyd_<name>), in Lloyd's
# tree and, after find_package(Lloyd), in any other project. The plugin reports the name <name>, so a
# folder that passes its own folder name can be copied under another. VERSION is the plugin's version;
# the default is the project's. LINK takes the libraries and targets that the plugin needs. At run time
# the plugin's shared libraries are searched in its own folder, and where this build found libraries
# outside the project.
#
# `cmake --install` puts the plugin into lib/lloyd, which a program in the neighbouring bin searches.
# Out of tree, if the project has called enable_testing(), the test conformance.<name> runs
# `lloyd verify` on the plugin. In Lloyd's tree each case of the suite is a separate test.
function(lloyd_add_plugin name)
  set(call "lloyd_add_plugin(${name})")
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "VERSION" "SOURCES;LINK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${call}: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "${call}: no SOURCES given")
  endif()
  string(LENGTH "${name}" length)
  if(NOT name MATCHES "^[a-z][a-z0-9-]*$" OR length GREATER 47) # PluginHeader::name
    message(FATAL_ERROR "${call}: the name must be at most 47 lower-case letters, digits and '-', "
      "a letter first")
  endif()
  if(NOT arg_VERSION)
    set(arg_VERSION "${PROJECT_VERSION}")
  endif()
  if(arg_VERSION STREQUAL "")
    message(FATAL_ERROR "${call}: no VERSION given, and the project '${PROJECT_NAME}' has none: "
      "write project(${PROJECT_NAME} VERSION 0.1.0) or pass VERSION 0.1.0")
  endif()
  get_property(has_several_configurations GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT CMAKE_BUILD_TYPE AND NOT has_several_configurations)
    message(WARNING "${call}: no build type is set, so the plugin is compiled without optimization; "
      "configure with -DCMAKE_BUILD_TYPE=Release")
  endif()
  set(target lloyd_${name})
  lloyd_add_plugin_library(${target} ${name} "${arg_VERSION}" lloyd_plugin.map "${arg_SOURCES}" "${arg_LINK}")
  set_property(GLOBAL APPEND PROPERTY LLOYD_PLUGIN_TARGETS ${target})

  if(NOT CMAKE_PROJECT_NAME STREQUAL "Lloyd")
    set(test conformance.${name})
    add_test(NAME ${test} COMMAND $<TARGET_FILE:Lloyd::lloyd> verify $<TARGET_FILE:${target}>)
    set_tests_properties(${test} PROPERTIES
      SKIP_REGULAR_EXPRESSION "nothing was verified: the backend is unavailable"
      TIMEOUT 1800)
  endif()
endfunction()

# lloyd_add_communicator(<name> SOURCES <file>... [LINK <library>...])
#
# Builds a communicator plugin, lloyd-communicator-<name>.so: see communicator_plugin.hpp. Lloyd looks for it
# in the plugin folders; its version is that of the project.
function(lloyd_add_communicator name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  set(target lloyd_communicator_${name})
  lloyd_add_plugin_library(
    ${target} ${name} "${PROJECT_VERSION}" lloyd_communicator.map "${arg_SOURCES}" "${arg_LINK}")
  set_target_properties(${target} PROPERTIES OUTPUT_NAME lloyd-communicator-${name})
  set_property(GLOBAL APPEND PROPERTY LLOYD_COMMUNICATOR_TARGETS ${target})
endfunction()

# Builds a plugin of any kind: the module library <target>, with the name and version of its header. <exports>
# is the linker's version script, in the folder of this file.
function(lloyd_add_plugin_library target name version exports sources link)
  add_library(${target} MODULE ${sources})
  # Hidden symbols, so that two plugins share no function and no static variable, even if they
  # include the same headers.
  set_target_properties(${target} PROPERTIES
    PREFIX ""
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "$ORIGIN"
    INSTALL_RPATH_USE_LINK_PATH ON
    # Otherwise CMake pads the build tree's RUNPATH with ':', and ld.so reads an empty entry as the
    # working directory.
    BUILD_WITH_INSTALL_RPATH ON)
  target_compile_definitions(${target} PRIVATE
    LLOYD_PLUGIN_NAME="${name}" LLOYD_PLUGIN_VERSION="${version}")
  target_link_libraries(${target} PRIVATE Lloyd::plugin_sdk ${link})
  if(TARGET lloyd_compile_options)
    target_link_libraries(${target} PRIVATE lloyd_compile_options)
  endif()
  set(exports ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${exports})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${exports})
  # -Xlinker, because -Wl splits a path at its commas.
  target_link_options(${target} PRIVATE
    -Wl,--exclude-libs,ALL "SHELL:-Xlinker \"--version-script=${exports}\"" -Wl,-z,nodelete)
  if(NOT LLOYD_SANITIZE)
    # The sanitizer's runtime is in the program, so its symbols are undefined in a plugin.
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION lib/lloyd)
endfunction()
