// The error for a wrong result of a backend's partial pass.
#pragma once

#include <utility>

#include <fmt/format.h>

#include <lloyd/plugin/abi/status.hpp>

namespace lloyd {

/// Throws StatusError with a sentence about the result of a partial pass.
template <class... Args>
[[noreturn]] void throw_partial_fault(fmt::format_string<Args...> text, Args&&... args) {
  throw StatusError(StatusCode::internal,
                    "a partial pass: " + fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace lloyd
