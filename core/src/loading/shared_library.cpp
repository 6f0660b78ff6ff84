#include "loading/shared_library.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>

namespace lloyd {
namespace {

// The message of the dynamic linker, which names the missing symbol or library, extracted from
// Boost's message.
std::string linker_message(const std::exception& error) {
  const std::string text = error.what();
  const std::string_view before = "(dlerror system message: ";
  const std::size_t begin = text.find(before);
  const std::size_t end = text.rfind("): ");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return printable(text);
  return printable(text.substr(begin + before.size(), end - begin - before.size()));
}

struct LoadedLibraries {
  std::mutex mutex;
  std::vector<std::unique_ptr<boost::dll::shared_library>> libraries;
};

}  // namespace

const boost::dll::shared_library& load_library(const std::filesystem::path& file,
                                               SymbolScope scope) {
  using boost::dll::load_mode::rtld_global, boost::dll::load_mode::rtld_local;
  static auto* const loaded = new LoadedLibraries;
  auto library = std::make_unique<boost::dll::shared_library>();
  try {
    library->load(file, boost::dll::load_mode::rtld_now |
                            (scope == SymbolScope::global ? rtld_global : rtld_local));
  } catch (const std::exception& error) {
    throw InputError(fmt::format("{} cannot be loaded: {}", file.string(), linker_message(error)));
  }
  const std::scoped_lock lock(loaded->mutex);
  return *loaded->libraries.emplace_back(std::move(library));
}

}  // namespace lloyd
