# Compiles the page of `lloyd report` into lloyd_apps, as report/page.hpp declares it: the files of page/, and
# D3 from the distribution with its licence. Without D3 no page is built; the global property
# LLOYD_HTML_REPORT tells whether it was.
find_file(LLOYD_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist NO_DEFAULT_PATH
  DOC "D3, one file, version 5 or newer")
find_file(LLOYD_D3_LICENSE copyright PATHS /usr/share/doc/node-d3 NO_DEFAULT_PATH
  DOC "The licence of D3")
set(missing "")
if(NOT LLOYD_D3 OR NOT LLOYD_D3_LICENSE)
  set(missing "D3 is not there (install node-d3, or give its files with -DLLOYD_D3=.../d3.min.js and -DLLOYD_D3_LICENSE=...)")
else()
  file(READ "${LLOYD_D3}" d3 LIMIT 200)
  if(NOT d3 MATCHES "d3js\\.org v([0-9]+)\\." OR CMAKE_MATCH_1 LESS 5)
    set(missing "${LLOYD_D3} is not D3 5 or newer")
  endif()
endif()
if(missing)
  message(STATUS "Lloyd: the HTML report is left out: ${missing}")
  set_property(GLOBAL PROPERTY LLOYD_HTML_REPORT OFF)
else()
  set_property(GLOBAL PROPERTY LLOYD_HTML_REPORT ON)
endif()

# Some compilers warn about longer string literals.
set(piece_size 50000)
set(entries "")
function(embed name path)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
  file(READ "${path}" text)
  string(LENGTH "${text}" length)
  set(begin 0)
  while(begin LESS length)
    string(SUBSTRING "${text}" ${begin} ${piece_size} piece)
    string(APPEND entries "    {\"${name}\", R\"~lloyd~(${piece})~lloyd~\"},\n")
    math(EXPR begin "${begin} + ${piece_size}")
  endwhile()
  set(entries "${entries}" PARENT_SCOPE)
endfunction()

if(NOT missing)
  file(GLOB_RECURSE page_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/page/*)
  foreach(page_file IN LISTS page_files)
    cmake_path(GET page_file FILENAME name)
    embed(${name} "${page_file}")
  endforeach()
  embed(d3 "${LLOYD_D3}")
  embed(d3-licence "${LLOYD_D3_LICENSE}")
endif()
file(CONFIGURE OUTPUT report_page_files.cpp @ONLY CONTENT [[
#include "report/page.hpp"

#include <vector>

namespace lloyd::report {

std::span<const PageFile> page_files() {
  static const std::vector<PageFile> files = {
@entries@  };
  return files;
}

}  // namespace lloyd::report
]])
target_sources(lloyd_apps PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/report_page_files.cpp)
