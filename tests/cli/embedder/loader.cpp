// Loads shared libraries that contain the core, each with its own symbols, as programs load
// plugins. Usage: loader LIBRARY...
#include <dlfcn.h>

#include <cstdio>

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    void* const library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::printf("%s\n", dlerror());
      return 1;
    }
    const auto fit = reinterpret_cast<bool (*)()>(dlsym(library, "fit_two_points"));
    if (fit == nullptr || !fit()) return 1;
  }
}
