#include "machine/system/openmp_runtimes.hpp"

#include <dlfcn.h>
#include <link.h>

#include <memory>

namespace lloyd::machine {
namespace {

// Calls omp_get_max_threads() of a loaded library.
int max_threads(const char* path) {
  const std::unique_ptr<void, int (*)(void*)> library(dlopen(path, RTLD_LAZY | RTLD_NOLOAD),
                                                      dlclose);
  if (library == nullptr) return 0;
  const auto threads = reinterpret_cast<int (*)()>(dlsym(library.get(), "omp_get_max_threads"));
  return threads == nullptr ? 0 : threads();
}

}  // namespace

std::string_view openmp_runtime_name(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  for (const std::string_view name : {"libgomp", "libomp5", "libomp", "libiomp5"}) {
    // "libgomp.so.1"; Python wheels rename it to "libgomp-24e2ab19.so.1.0.0".
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
              {std::string(name), library->dlpi_name, 0});
        }
        return 0;
      },
      &runtimes);
  for (OpenmpRuntime& runtime : runtimes) runtime.threads = max_threads(runtime.path.c_str());
  return runtimes;
}

}  // namespace lloyd::machine
