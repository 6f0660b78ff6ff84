// The plugin file format: what the loader checks before and after it loads a shared library.
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/status.hpp>

#if defined(__linux__)
/// Operating system, for LLOYD_ABI_TAG.
#define LLOYD_ABI_PLATFORM "linux"
#else
#error "Lloyd's plugin boundary is defined for Linux only"
#endif
#if defined(__x86_64__)
/// Processor family, for LLOYD_ABI_TAG.
#define LLOYD_ABI_MACHINE "x86_64"
#elif defined(__aarch64__)
#define LLOYD_ABI_MACHINE "aarch64"
#else
#error "Lloyd's plugin boundary is defined for x86_64 and aarch64 only"
#endif
/// Platform and C++ ABI family. A plugin loads only if the host's tag is the same string.
#define LLOYD_ABI_TAG LLOYD_ABI_PLATFORM "-" LLOYD_ABI_MACHINE "-itanium"

/// Name of the ELF section that holds a plugin's descriptor.
#define LLOYD_PLUGIN_SECTION ".lloyd_plugin"
/// Name of the exported descriptor.
#define LLOYD_PLUGIN_SYMBOL "lloyd_plugin"

namespace lloyd {

class Backend;
struct DeviceList;

/// Version of the plugin boundary. The host loads a plugin if the major numbers are equal and the
/// plugin's minor number is not newer than the host's. A minor version only appends fields to
/// structs that begin with their size, or adds interfaces that are obtained with query(). The size,
/// `struct_size`, is sizeof the struct, set by the side that allocates it; it tells the other side
/// which fields exist. Every other change needs a new major version.
inline constexpr std::uint32_t kAbiMajor = 1;
/// Minor version of the boundary; see kAbiMajor.
inline constexpr std::uint32_t kAbiMinor = 0;

/// Magic number: the first bytes of the section, which identify a Lloyd plugin.
inline constexpr char kPluginMagic[16] = "LLOYD-PLUGIN\r\n\x1a";

/// The start of the section, without pointers: the host reads it from the file before it loads the
/// library. Strings are zero-terminated and zero-padded.
struct PluginHeader {
  char magic[16];             ///< kPluginMagic
  std::uint32_t header_size;  ///< sizeof(PluginHeader) of the SDK the plugin was built with
  std::uint32_t abi_major;    ///< kAbiMajor of that SDK
  std::uint32_t abi_minor;    ///< kAbiMinor of that SDK
  std::uint32_t reserved;     ///< 0
  char abi_tag[32];           ///< LLOYD_ABI_TAG of that SDK
  char name[48];              ///< the backend's name: lower-case letters, digits and '-'
  char version[32];           ///< the plugin's own version
};
static_assert(sizeof(PluginHeader) == 144);

/// The symbol that a plugin exports: `extern "C" const PluginDescriptor lloyd_plugin`.
struct PluginDescriptor {
  PluginHeader header;  ///< the same bytes as at the start of the section
  /// Lists the devices that the backend can use now, without touching data. Returns `unavailable`,
  /// with the reason in its message, if there are none.
  Status (*probe)(DeviceList* devices) noexcept;
  /// Creates the backend, even if probe() found no device. The caller destroys it with `release()`.
  Status (*create)(Backend** backend) noexcept;
};

namespace detail {

template <std::uint64_t Capacity, std::uint64_t Size>
constexpr void copy_text(char (&target)[Capacity], const char (&text)[Size]) {
  static_assert(Size <= Capacity, "the text does not fit its field in the plugin header");
  for (std::uint64_t i = 0; i < Size; ++i) target[i] = text[i];
}

}  // namespace detail

/// The header of a plugin that is compiled against these headers.
template <std::uint64_t NameSize, std::uint64_t VersionSize>
constexpr PluginHeader make_plugin_header(const char (&name)[NameSize],
                                          const char (&version)[VersionSize]) {
  PluginHeader header{};
  detail::copy_text(header.magic, kPluginMagic);
  header.header_size = sizeof(PluginHeader);
  header.abi_major = kAbiMajor;
  header.abi_minor = kAbiMinor;
  detail::copy_text(header.abi_tag, LLOYD_ABI_TAG);
  detail::copy_text(header.name, name);
  detail::copy_text(header.version, version);
  return header;
}

}  // namespace lloyd
