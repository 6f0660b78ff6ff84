// TracingRunner: traces one more fit after the last repeat of each planned fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "experiment/record/record.hpp"
#include "experiment/run/trial.hpp"

namespace lloyd::experiment {

/// Maximum size in bytes of a trace in a record; longer traces are dropped. The other half of the
/// record is left for its other values.
inline constexpr std::int64_t kMaxTraceBytes = kMaxRecordBytes / 2;

/// Runs trials with another runner. If the plan requests traces, the record of the last repeat of
/// each planned fit gets a trace, made by additional fits outside the timed ones. In each setting,
/// the first variant that can be traced also gets a replay, and so does the baseline. A trial whose
/// trace is interrupted is recorded as cancelled, so that a resumed run repeats it with its trace.
class TracingRunner final : public TrialRunner {
 public:
  using Note = std::function<void(const std::string&)>;

  /// The arguments must outlive the runner. `trials` runs the trials, `tracer` makes the traces;
  /// `note` receives the reason if a trace fails.
  TracingRunner(const Plan& plan, TrialRunner& trials, SharedStartRunner& tracer, Note note)
      : plan_(plan), trials_(trials), tracer_(tracer), note_(std::move(note)) {}

  Record run(const PlannedFit& fit, std::int64_t repeat) override;

 private:
  bool leaves_replay(const PlannedFit& fit) const;
  Trace trace(const PlannedFit& fit, std::int64_t restart);

  const Plan& plan_;
  TrialRunner& trials_;
  SharedStartRunner& tracer_;
  Note note_;
  std::set<std::size_t> replayed_;  // settings with a replay
};

}  // namespace lloyd::experiment
