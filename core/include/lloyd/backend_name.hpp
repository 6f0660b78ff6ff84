// Names of backends: what they may look like.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <lloyd/plugin/abi.hpp>

namespace lloyd {

/// The longest name.
inline constexpr std::size_t kMaxNameCharacters = sizeof(PluginHeader::name) - 1;

/// Whether a backend may have this name: 1 to kMaxNameCharacters lower-case letters, digits and
/// '-', a letter first.
bool is_backend_name(std::string_view name);

/// A name that is_backend_name() accepts, near to any text: "My_Kernel 2" gives "my-kernel-2".
std::string to_backend_name(std::string_view text);

}  // namespace lloyd
