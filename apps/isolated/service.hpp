// The process of a plugin: loads it and answers for it.
#pragma once

#include <string>
#include <string_view>

namespace lloyd::isolated {

/// The exit status of a process whose socket a plugin has closed: it cannot say so otherwise.
inline constexpr int kSocketLost = 113;

/// Loads the plugin that the first packet names, describes it, and then answers questions of the
/// backend until nobody sends any more; see messages.hpp.
void serve_plugin(int socket);

/// The answer of a process that cannot load its plugin, for a reason that is no fault of the
/// plugin.
std::string failure_answer(std::string_view reason);

}  // namespace lloyd::isolated
