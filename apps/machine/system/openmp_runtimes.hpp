// The OpenMP runtimes in this process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lloyd::machine {

struct OpenmpRuntime {
  std::string name;  ///< "libgomp", "libomp", "libiomp5"
  std::string path;
  int threads = 0;  ///< that a parallel region takes if nothing else is said; 0: not known
};

/// Those loaded now: ask after the plugins are loaded. Two of them have a pool of threads each.
std::vector<OpenmpRuntime> loaded_openmp_runtimes();

/// Which runtime a shared library is, by its file name; empty for any other.
std::string_view openmp_runtime_name(std::string_view path);

}  // namespace lloyd::machine
