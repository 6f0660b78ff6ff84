// Warnings about a fit whose result may not be what the user expects.
#pragma once

#include <string>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/fit.hpp>

#include "options/data_options.hpp"

namespace lloyd::apps {

/// One sentence if clusters of a complete fit are empty, with the number of distinct samples if
/// that is the reason; otherwise none.
std::vector<std::string> empty_cluster_warnings(const Dataset& dataset, const Fit& fit);

/// One sentence if several restarts begin with the same centroids; otherwise none. `restarts` and
/// `seeding` are the option or the key that sets them, for the message.
std::vector<std::string> restart_warnings(const FitOptions& options, const std::string& restarts,
                                          const std::string& seeding);

/// One sentence if the last column was taken as classes without --label-column, although more than
/// half of its values are distinct, as with names and identifiers. The first 1000 samples are
/// inspected; data sets of fewer than 10 samples are not.
std::vector<std::string> class_warnings(const Dataset& dataset, const DataOptions& options);

}  // namespace lloyd::apps
