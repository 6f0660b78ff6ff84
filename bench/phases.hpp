// Profiled fits of exactly kIterations iterations.
#pragma once

#include <functional>

#include "program.hpp"

namespace lloyd::bench {

FitOptions fit_options(const Problem& problem);

/// A run is one profiled fit; its time is that of one phase per iteration.
std::function<Run(BackendSession&, const Problem&)> phase_of_fit(double PhaseTimes::*phase);

}  // namespace lloyd::bench
