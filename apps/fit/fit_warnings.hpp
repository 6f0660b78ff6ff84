// Warnings about a fit whose result may not be what the user expects.
#pragma once

#include <string>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/fit.hpp>

namespace lloyd::apps {

/// One sentence if clusters of a complete fit are empty, with the number of distinct samples if
/// that is the reason; otherwise none.
std::vector<std::string> empty_cluster_warnings(const Dataset& dataset, const Fit& fit);

/// One sentence if several restarts begin with the same centroids; otherwise none. `restarts` and
/// `seeding` are the option or the key that sets them, for the message.
std::vector<std::string> restart_warnings(const FitOptions& options, const std::string& restarts,
                                          const std::string& seeding);

/// One sentence if `threads`, the value of the parameter of this name, is more than the processors
/// that the process may use; otherwise none.
std::vector<std::string> thread_warnings(const std::string& threads, int processors);

}  // namespace lloyd::apps
