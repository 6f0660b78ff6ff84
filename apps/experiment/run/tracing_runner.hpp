// TracingRunner: after the last repeat of a planned fit, has one more watched.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "experiment/record/record.hpp"
#include "experiment/run/trial.hpp"

namespace lloyd::experiment {

/// Bytes of a trace in a record at the most; a longer trace is not kept. The other half of a record
/// is for everything else in it.
inline constexpr std::int64_t kMaxTraceBytes = kMaxRecordBytes / 2;

/// Runs trials as another runner does. Where the plan asks for traces, the record of the last
/// repeat of each planned fit gets one, from further fits that are not timed with the others. The
/// baseline, or without one the first variant that is run, also leaves a replay. A trial whose
/// trace is interrupted counts as cancelled, so that a resumed run makes it again with its trace.
class TracingRunner final : public TrialRunner {
 public:
  using Note = std::function<void(const std::string&)>;

  /// The arguments must outlive the runner. `trials` runs the trials, `tracer` makes the traces;
  /// `note` is told why one could not be made.
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
};

}  // namespace lloyd::experiment
