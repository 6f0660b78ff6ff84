// A static constructor with an observable effect: it creates the file that the environment variable
// LLOYD_LOADING_MARK names.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace lloyd::bad {

inline const bool kLoadingMark = [] {
  const char* file = std::getenv("LLOYD_LOADING_MARK");
  std::FILE* mark = file == nullptr ? nullptr : std::fopen(file, "w");
  return mark != nullptr && std::fclose(mark) == 0;
}();

}  // namespace lloyd::bad
