#include "machine/openmp_runtimes.hpp"

#include <link.h>

namespace lloyd::machine {

std::string_view openmp_runtime_name(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  for (const std::string_view name : {"libgomp", "libomp5", "libomp", "libiomp5"}) {
    // "libgomp.so.1", and "libgomp-24e2ab19.so.1.0.0" as Python's wheels name it.
    if (!file.starts_with(name) || file.size() == name.size()) continue;
    const char next = file[name.size()];
    if ((next == '.' || next == '-') && file.find(".so") != file.npos) {
      return name == "libomp5" ? "libomp" : name;
    }
  }
  return {};
}

std::vector<OpenmpRuntime> loaded_openmp_runtimes() {
  std::vector<OpenmpRuntime> runtimes;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* found) {
        const std::string_view name = openmp_runtime_name(library->dlpi_name);
        if (!name.empty()) {
          static_cast<std::vector<OpenmpRuntime>*>(found)->push_back(
              {std::string(name), library->dlpi_name});
        }
        return 0;
      },
      &runtimes);
  return runtimes;
}

}  // namespace lloyd::machine
