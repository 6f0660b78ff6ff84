#include "experiment/run/tracing_runner.hpp"

#include <exception>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::experiment {

bool TracingRunner::leaves_replay(const PlannedFit& fit) const {
  return fit.variant == plan_.baseline || !replayed_.contains(fit.setting);
}

Trace TracingRunner::trace(const PlannedFit& fit, std::int64_t restart) {
  Trace trace = tracer_.trace(fit, restart, leaves_replay(fit));
  const std::size_t bytes = to_json(trace).dump().size();
  if (bytes > static_cast<std::size_t>(kMaxTraceBytes)) {
    throw Error(
        fmt::format("one of {} iterations takes {} MiB in the record, at most {} MiB are kept",
                    trace.shift.size(), bytes >> 20, kMaxTraceBytes >> 20));
  }
  if (trace.replay) replayed_.insert(fit.setting);
  return trace;
}

Record TracingRunner::run(const PlannedFit& fit, std::int64_t repeat) {
  Record record = trials_.run(fit, repeat);
  const bool wanted = plan_.trace && record.ranks == 0;
  if (!wanted || record.status != TrialStatus::ok || repeat + 1 != plan_.repeats) return record;
  try {
    record.trace = trace(fit, record.fit->restart);
  } catch (const Cancelled&) {
    // A resumed run repeats whole trials, never a trace alone.
    record.status = TrialStatus::cancelled;
    record.reason = "interrupted while its trace was made";
    note_(fmt::format("{}: no trace: interrupted; --resume makes the trial again, with its trace",
                      record.backend.label));
  } catch (const std::bad_alloc&) {
    note_(fmt::format("{}: no trace: out of host memory", record.backend.label));
  } catch (const std::exception& error) {
    note_(fmt::format("{}: no trace: {}", record.backend.label, error.what()));
  }
  return record;
}

}  // namespace lloyd::experiment
