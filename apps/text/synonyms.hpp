// Names that other k-means programs use, and the option or key of Lloyd that does the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lloyd::apps {

/// The option of the command line for a name such as "--n-init": "--restarts". Empty if there is
/// none among the options `known`, of which "-p threads=N" needs "-p".
std::string option_for(std::string_view name, const std::vector<std::string>& known);

/// The dotted path of the key of an experiment for a name such as "k" or "n_init": "clusters",
/// "restarts". Empty if there is none.
std::string key_for(std::string_view name);

/// The program of bench/peers/ that runs another library, for its name: "scikit-learn.py" for
/// "sklearn". Empty if there is none.
std::string_view program_for(std::string_view name);

}  // namespace lloyd::apps
