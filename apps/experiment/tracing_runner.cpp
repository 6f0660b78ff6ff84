#include "experiment/tracing_runner.hpp"

#include <exception>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::experiment {

bool TracingRunner::leaves_replay(const PlannedFit& fit) const {
  if (plan_.baseline && plan_.fit(fit.setting, *plan_.baseline).skip.empty()) {
    return fit.variant == *plan_.baseline;
  }
  for (std::size_t v = 0; v < fit.variant; ++v) {
    if (plan_.fit(fit.setting, v).skip.empty()) return false;
  }
  return true;
}

Record TracingRunner::run(const PlannedFit& fit, std::int64_t repeat) {
  Record record = trials_.run(fit, repeat);
  if (!plan_.trace || record.status != TrialStatus::ok || repeat + 1 != plan_.repeats)
    return record;
  try {
    record.trace = tracer_.trace(fit, record.fit->restart, leaves_replay(fit));
  } catch (const Cancelled&) {
    // The trial is whole; the run ends after it.
  } catch (const std::exception& error) {
    note_(fmt::format("{}: no trace: {}", record.backend.label, error.what()));
  }
  return record;
}

}  // namespace lloyd::experiment
