# Installation and the CMake package. find_package(Lloyd) works with the installed folder, even after it is
# moved, and with the build folder.
#
# The program searches for plugins in ../lib/lloyd, so bin and lib/lloyd are not configurable.
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Lloyd)
set(config_template ${PROJECT_SOURCE_DIR}/core/cmake/LloydConfig.cmake.in)

# The HDF5 module is also a component of its own: `cmake --install BUILD --component hdf5`.
install(TARGETS lloyd EXPORT LloydTargets RUNTIME DESTINATION bin)
install(TARGETS lloyd_plugin_sdk EXPORT LloydTargets)
# Exported separately: plugin authors do not need the libraries of the core.
install(TARGETS lloyd_core EXPORT LloydCoreTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/core/include/lloyd
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp)

# Documentation, experiments, the programs for other libraries and the examples, in the layout of the source tree, so
# that the paths between them hold.
set(data_folder ${CMAKE_INSTALL_DATADIR}/lloyd)
install(FILES README.md CHANGELOG.md CITATION.cff CONTRIBUTING.md SECURITY.md LICENSE NOTICE DESTINATION ${data_folder})
install(FILES bench/README.md DESTINATION ${data_folder}/bench)
install(FILES tests/compare_calibration/README.md DESTINATION ${data_folder}/tests/compare_calibration)
install(FILES tests/cuda_emulation/README.md DESTINATION ${data_folder}/tests/cuda_emulation)
install(DIRECTORY tests/reference DESTINATION ${data_folder}/tests FILES_MATCHING PATTERN *.?pp)
# The glossary links to headers.
file(RELATIVE_PATH installed_headers
  /prefix/${data_folder}/core /prefix/${CMAKE_INSTALL_INCLUDEDIR})
install(CODE "
  set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${data_folder}/core\")
  file(MAKE_DIRECTORY \"\${folder}\")
  file(REMOVE \"\${folder}/include\")
  file(CREATE_LINK \"${installed_headers}\" \"\${folder}/include\" SYMBOLIC)")
install(DIRECTORY docs DESTINATION ${data_folder}
  FILES_MATCHING PATTERN *.md PATTERN *.svg PATTERN *.png PATTERN *.cpp)
install(DIRECTORY configs DESTINATION ${data_folder})
# The pages for authors of backends point to the sources of Lloyd's own.
install(DIRECTORY plugins DESTINATION ${data_folder} PATTERN build EXCLUDE)
install(DIRECTORY bench/peers DESTINATION ${data_folder}/bench
  USE_SOURCE_PERMISSIONS FILES_MATCHING PATTERN *.py)
install(DIRECTORY apps/examples apps/plugin_template apps/cuda_plugin_template
  DESTINATION ${data_folder}/apps PATTERN build EXCLUDE)

set_target_properties(lloyd_plugin_sdk PROPERTIES EXPORT_NAME plugin_sdk)
set_target_properties(lloyd_core PROPERTIES EXPORT_NAME core)
foreach(export_set IN ITEMS LloydTargets LloydCoreTargets)
  install(EXPORT ${export_set} NAMESPACE Lloyd:: DESTINATION ${package_folder})
  export(EXPORT ${export_set} NAMESPACE Lloyd:: FILE ${PROJECT_BINARY_DIR}/${export_set}.cmake)
endforeach()

write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/LloydConfigVersion.cmake COMPATIBILITY SameMinorVersion)
set(package_files ${PROJECT_BINARY_DIR}/LloydConfigVersion.cmake)
foreach(file IN ITEMS LloydAddPlugin.cmake lloyd_plugin.map lloyd_communicator.map)
  configure_file(${PROJECT_SOURCE_DIR}/core/cmake/${file} ${PROJECT_BINARY_DIR}/${file} COPYONLY)
  list(APPEND package_files ${PROJECT_BINARY_DIR}/${file})
endforeach()

set(plugin_folder ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
configure_package_config_file(${config_template} ${PROJECT_BINARY_DIR}/LloydConfig.cmake
  INSTALL_PREFIX ${PROJECT_BINARY_DIR} INSTALL_DESTINATION ${PROJECT_BINARY_DIR}
  PATH_VARS plugin_folder)
set(plugin_folder lib/lloyd)
set(installed_config ${PROJECT_BINARY_DIR}/CMakeFiles/LloydConfig.cmake)
configure_package_config_file(${config_template} ${installed_config}
  INSTALL_DESTINATION ${package_folder} PATH_VARS plugin_folder)
install(FILES ${installed_config} ${package_files} DESTINATION ${package_folder})
