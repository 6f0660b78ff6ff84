// The syntax of backend names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <lloyd/plugin/abi/abi.hpp>

namespace lloyd {

/// The maximum length of a backend's name in characters.
inline constexpr std::size_t kMaxNameCharacters = sizeof(PluginHeader::name) - 1;

/// True for a valid name: 1 to kMaxNameCharacters lower-case letters, digits and '-', starting with
/// a letter.
bool is_backend_name(std::string_view name);

/// Turns any text into a valid name: "My_Kernel 2" becomes "my-kernel-2".
std::string to_backend_name(std::string_view text);

}  // namespace lloyd
