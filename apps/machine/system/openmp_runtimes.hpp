// OpenMP runtimes loaded in this process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lloyd::machine {

struct OpenmpRuntime {
  std::string name;  ///< "libgomp", "libomp", "libiomp5"
  std::string path;
  int threads = 0;  ///< default size of a parallel region; 0: unknown
};

/// The runtimes loaded now: call it after loading plugins. Each runtime has its own thread pool.
std::vector<OpenmpRuntime> loaded_openmp_runtimes();

/// Name of the runtime, from a shared library's file name; empty for other libraries.
std::string_view openmp_runtime_name(std::string_view path);

}  // namespace lloyd::machine
