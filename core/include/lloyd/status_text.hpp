// Texts that come from a plugin, made safe to print.
#pragma once

#include <string>
#include <string_view>

#include <lloyd/plugin/status.hpp>

namespace lloyd {

/// The text with control characters replaced by '?'.
std::string printable(std::string_view text);

/// A status's message, or a text for its code where it has none.
std::string status_message(const Status& status);

/// Throws BackendError, led by `backend`, unless the status is ok.
void throw_unless_ok(const std::string& backend, const Status& status);

}  // namespace lloyd
