#include "loading/plugin_header.hpp"

#include <cstring>
#include <vector>

#include <fmt/format.h>

#include <lloyd/backend_name.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>

#include "loading/elf_section.hpp"
#include "loading/shared_library.hpp"

namespace lloyd {
namespace {

void check_header(const std::string& file, const PluginKind& kind, const PluginHeader& header) {
  if (std::memcmp(header.magic, kPluginMagic, sizeof(kPluginMagic)) != 0) {
    throw InputError(
        fmt::format("{} is not {}: its section {} does not begin with Lloyd's magic bytes", file,
                    kind.description, kind.section));
  }
  if (header.abi_major != kAbiMajor) {
    throw InputError(
        fmt::format("{} was built for plugin ABI {}.{}, this program has {}.{}: the "
                    "major numbers must be equal",
                    file, header.abi_major, header.abi_minor, kAbiMajor, kAbiMinor));
  }
  if (header.abi_minor > kAbiMinor) {
    throw InputError(
        fmt::format("{} was built for plugin ABI {}.{}, this program has {}.{}: the "
                    "plugin must not be newer",
                    file, header.abi_major, header.abi_minor, kAbiMajor, kAbiMinor));
  }
  const std::string tag = text_of_field(header.abi_tag);
  if (tag != LLOYD_ABI_TAG) {
    throw InputError(fmt::format("{} was built for the platform '{}', this program is '{}'", file,
                                 printable(tag), LLOYD_ABI_TAG));
  }
  if (header.header_size != sizeof(PluginHeader)) {
    throw InputError(fmt::format("{} has a plugin header of {} bytes, where {} are expected", file,
                                 header.header_size, sizeof(PluginHeader)));
  }
  const std::string name = text_of_field(header.name);
  if (!is_backend_name(name)) {
    throw InputError(
        fmt::format("{} names its {} '{}', where 1 to {} lower-case letters, digits and '-', "
                    "a letter first, are expected",
                    file, kind.named_thing, printable(name), kMaxNameCharacters));
  }
}

}  // namespace

void read_header(const std::filesystem::path& file, const PluginKind& kind,
                 std::span<std::byte> header) {
  const std::vector<std::byte> section =
      read_elf_section(file, kind.section, kind.description, header.size());
  const auto check_size = [&](std::size_t needed) {
    if (section.size() >= needed) return;
    throw InputError(fmt::format("{} has a plugin header of {} bytes, where {} are expected",
                                 file.string(), section.size(), header.size()));
  };
  // The header of another major version may be shorter; magic number and version always come first.
  check_size(offsetof(PluginHeader, abi_tag));
  std::fill(header.begin(), header.end(), std::byte{0});
  std::copy(section.begin(), section.end(), header.begin());
  PluginHeader common;
  std::memcpy(&common, header.data(), sizeof(common));
  check_header(file.string(), kind, common);
  check_size(header.size());
}

const void* load_descriptor(const std::filesystem::path& file, const PluginKind& kind,
                            std::span<const std::byte> header, bool global) {
  const boost::dll::shared_library& library =
      load_library(file, global ? SymbolScope::global : SymbolScope::local);
  if (!library.has(kind.symbol)) {
    throw InputError(fmt::format("{} has the section {} but does not export the symbol {}",
                                 file.string(), kind.section, kind.symbol));
  }
  const void* const descriptor = &library.get<const std::byte>(kind.symbol);
  if (std::memcmp(descriptor, header.data(), header.size()) != 0) {
    throw InputError(fmt::format("{}: the symbol {} is not the descriptor in the section {}",
                                 file.string(), kind.symbol, kind.section));
  }
  return descriptor;
}

}  // namespace lloyd
