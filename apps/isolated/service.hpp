// The plugin's side of PluginProcess: loads the plugin and answers questions.
#pragma once

#include <string>
#include <string_view>

namespace lloyd::isolated {

/// Exit status if the plugin has closed the socket, so that no answer can be sent.
inline constexpr int kSocketLost = 113;

/// Loads the plugin named by the first packet, sends its description, then answers questions until
/// the peer closes the socket; see messages.hpp.
void serve_plugin(int socket);

/// Answer (LoadOutcome::failed) of a process that cannot load its plugin for a reason that is not
/// the plugin's fault.
std::string failure_answer(std::string_view reason);

}  // namespace lloyd::isolated
