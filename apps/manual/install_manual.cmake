# Man pages and completion scripts: the program writes them after it is linked, so that they always describe its
# options, and `cmake --install` puts them where the system's man and shells look. A program for another machine
# cannot run here, so a cross build has none.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  return()
endif()
set(manual_folder ${CMAKE_CURRENT_BINARY_DIR}/manual)
add_custom_command(TARGET lloyd POST_BUILD
  COMMAND ${CMAKE_COMMAND} "-DEMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}" -DPROGRAM=$<TARGET_FILE:lloyd>
    -DFOLDER=${manual_folder} -P ${CMAKE_CURRENT_SOURCE_DIR}/manual/write_manual.cmake
  COMMENT "Man pages and completion scripts" VERBATIM)
install(DIRECTORY ${manual_folder}/ DESTINATION ${CMAKE_INSTALL_DATADIR})
