// The process of a plugin: loads it and answers for it.
#pragma once

namespace lloyd::isolated {

/// Loads the plugin that the first packet names, describes it, and then answers questions of the
/// backend until nobody sends any more; see messages.hpp.
void serve_plugin(int socket);

}  // namespace lloyd::isolated
