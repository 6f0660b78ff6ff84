#include "data/hdf5/hdf5_module.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/data/hdf5.hpp>
#include <lloyd/error.hpp>
#include <lloyd/registry.hpp>

#include "loading/elf_section.hpp"
#include "loading/shared_library.hpp"

namespace lloyd {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModuleFile = "liblloyd_hdf5.so";

std::vector<std::string> module_folders() {
  std::vector<std::string> folders;
  for (const fs::path& folder : Registry::default_folders()) {
    // A relative path would be resolved in the working directory.
    if (!folder.is_absolute()) continue;
    const std::string name = folder.string();
    if (std::find(folders.begin(), folders.end(), name) == folders.end()) folders.push_back(name);
  }
  return folders;
}

std::string version_text(const Hdf5ModuleHeader& header) {
  return fmt::format("{}.{}.{}", header.version[0], header.version[1], header.version[2]);
}

// Throws InputError unless the file is the module of this build. No code of the file runs.
void check_module(const fs::path& file) {
  constexpr std::string_view kKind = "Lloyd's HDF5 module";
  const std::vector<std::byte> section =
      read_elf_section(file, LLOYD_HDF5_SECTION, kKind, sizeof(Hdf5ModuleHeader));
  Hdf5ModuleHeader header{};
  if (section.size() == sizeof(header)) std::memcpy(&header, section.data(), sizeof(header));
  if (!std::ranges::equal(header.magic, kHdf5ModuleHeader.magic)) {
    throw InputError(fmt::format("{} is not {}: its section {} does not begin with Lloyd's header",
                                 file.string(), kKind, LLOYD_HDF5_SECTION));
  }
  if (header == kHdf5ModuleHeader) return;
  throw InputError(
      fmt::format("{} belongs to another build of Lloyd, with HDF5 {}; this one needs the module "
                  "that was built with it, with HDF5 {}",
                  file.string(), version_text(header), version_text(kHdf5ModuleHeader)));
}

const Hdf5Table& load_module() {
  const fs::path file = find_hdf5_module().file;
  // Global, because filters may use symbols of libhdf5 without being linked to it.
  const auto& library = load_library(file, SymbolScope::global);
  if (!library.has(kHdf5TableFunction)) {
    throw InputError(
        fmt::format("{} does not export the function {}", file.string(), kHdf5TableFunction));
  }
  const Hdf5Table* const table = library.get<Hdf5TableFunction>(kHdf5TableFunction)();
  if (table == nullptr) {
    throw InputError(fmt::format("{} cannot initialize the HDF5 library", file.string()));
  }
  return *table;
}

}  // namespace

Hdf5Module find_hdf5_module() {
  const std::vector<std::string> folders = module_folders();
  std::string refusal;
  // A module of another build is skipped: its folder may be searched for the plugins in it.
  for (const std::string& folder : folders) {
    const fs::path file = fs::path(folder) / kModuleFile;
    std::error_code error;
    if (!fs::exists(file, error)) continue;
    try {
      check_module(file);
      return {file, version_text(kHdf5ModuleHeader)};
    } catch (const InputError& refused) {
      if (refusal.empty()) refusal = refused.what();
    }
  }
  if (!refusal.empty()) throw InputError(refusal);
  throw InputError(
      fmt::format("HDF5 files need {}, which is not in {}; install Lloyd's component hdf5 (cmake "
                  "--install BUILD --component hdf5)",
                  kModuleFile, fmt::join(folders, ", ")));
}

bool hdf5_supported() {
  try {
    find_hdf5_module();
    return true;
  } catch (const InputError&) {
    return false;
  }
}

const Hdf5Table& hdf5() {
  static const Hdf5Table& table = load_module();
  return table;
}

void require_hdf5(const std::string& path) {
  try {
    hdf5();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace lloyd
