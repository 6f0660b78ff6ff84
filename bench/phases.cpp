#include "phases.hpp"

namespace lloyd::bench {

FitOptions fit_options(const Problem& problem) {
  FitOptions options;
  options.clusters = problem.clusters();
  options.max_iterations = kIterations;
  options.fixed_iterations = true;
  return options;
}

std::function<Run(BackendSession&, const Problem&)> phase_of_fit(double PhaseTimes::*phase) {
  return [phase](BackendSession& session, const Problem& problem) -> Run {
    FitOptions options = fit_options(problem);
    options.profile = true;
    return [&session, &problem, options, phase](benchmark::State&) {
      const Fit fit = session.fit_from(problem.start, options);
      return fit.result.phases.*phase * 1e-3 / static_cast<double>(kIterations);
    };
  };
}

}  // namespace lloyd::bench
