// The file format of a communicator plugin: a shared library that gives a Communicator to the
// processes that a launcher, such as mpirun, started together. It is checked like a backend plugin;
// see abi.hpp.
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/abi.hpp>
#include <lloyd/plugin/abi/communicator.hpp>
#include <lloyd/plugin/abi/status.hpp>

/// Name of the ELF section that holds a communicator plugin's descriptor.
#define LLOYD_COMMUNICATOR_SECTION ".lloyd_communicator"
/// Name of the exported descriptor.
#define LLOYD_COMMUNICATOR_SYMBOL "lloyd_communicator"

namespace lloyd {

/// The start of the section, without pointers: the host reads it from the file, and loads the
/// library only in a process that a launcher started as one of several.
struct CommunicatorHeader {
  PluginHeader plugin;  ///< `name` is that of the communicator, such as "mpi"
  /// Names of environment variables in which launchers pass the number of processes, separated by
  /// spaces; zero-terminated and zero-padded.
  char size_variables[256];
};
static_assert(sizeof(CommunicatorHeader) == 400);

/// The symbol that a communicator plugin exports:
/// `extern "C" const CommunicatorDescriptor lloyd_communicator`.
struct CommunicatorDescriptor {
  CommunicatorHeader header;  ///< the same bytes as at the start of the section
  /// Joins all processes of the launcher's job; collective. Called at most once per process, on its
  /// main thread. The caller destroys the communicator with `release()`. Returns `unavailable` if
  /// communication cannot be set up.
  Status (*join)(Communicator** communicator) noexcept;
};

/// The header of a communicator plugin that is compiled against these headers.
template <std::uint64_t NameSize, std::uint64_t VersionSize, std::uint64_t VariablesSize>
constexpr CommunicatorHeader make_communicator_header(const char (&name)[NameSize],
                                                      const char (&version)[VersionSize],
                                                      const char (&variables)[VariablesSize]) {
  CommunicatorHeader header{};
  header.plugin = make_plugin_header(name, version);
  detail::copy_text(header.size_variables, variables);
  return header;
}

}  // namespace lloyd
