#include "experiment/work.hpp"

#include <algorithm>

#include "experiment/statistics.hpp"
#include "names.hpp"

namespace lloyd::experiment {
namespace {

bool is_profiled(const Record& record) {
  return record.status == TrialStatus::ok && record.fit && record.fit->phases.assignment_ms >= 0;
}

// The median of what `value` makes of each profiled trial that has it.
template <class Value>
double median_of(const std::vector<Record>& records, Value&& value) {
  std::vector<double> values;
  for (const Record& record : records) {
    if (!is_profiled(record)) continue;
    const double one = value(*record.fit);
    if (one >= 0) values.push_back(one);
  }
  return median(values);
}

double whole_ms(const Measurements& fit) {
  return fit.loop_ms + fit.closing_ms;
}

// Phases that were not measured are negative.
double overhead_of(const Measurements& fit) {
  double rest = whole_ms(fit);
  for (const double ms : {fit.phases.transfer_ms, fit.phases.assignment_ms, fit.phases.update_ms}) {
    rest -= std::max(0.0, ms);
  }
  return std::max(0.0, rest);
}

}  // namespace

std::optional<PhaseSummary> phases_of(const std::vector<Record>& records) {
  if (std::none_of(records.begin(), records.end(), is_profiled)) return {};
  const auto phase = [&](double PhaseTimes::*member, double& ms, double& percent) {
    ms = median_of(records, [&](const Measurements& fit) {
      return fit.phases.*member / static_cast<double>(fit.iterations);
    });
    percent = median_of(records, [&](const Measurements& fit) {
      return 100 * (fit.phases.*member) / whole_ms(fit);
    });
  };
  PhaseSummary phases;
  phase(&PhaseTimes::transfer_ms, phases.transfer_ms, phases.transfer_percent);
  phase(&PhaseTimes::assignment_ms, phases.assignment_ms, phases.assignment_percent);
  phase(&PhaseTimes::update_ms, phases.update_ms, phases.update_percent);
  phases.overhead_ms = median_of(records, overhead_of);
  phases.overhead_percent = median_of(
      records, [](const Measurements& fit) { return 100 * overhead_of(fit) / whole_ms(fit); });
  return phases;
}

Rates rates_of(const Record& record, double iteration_ms) {
  const auto n = static_cast<double>(record.dataset.samples);
  const auto d = static_cast<double>(record.dataset.features);
  const auto k = static_cast<double>(record.clusters);
  const auto size = static_cast<double>(size_of(apps::parse_dtype(record.dataset.dtype)));
  const double per_ms_to_giga_per_s = 1e-6;
  return {(n * k * (3 * d + 2) + d * (n + k)) / iteration_ms * per_ms_to_giga_per_s,
          n * k * d * size / iteration_ms * per_ms_to_giga_per_s};
}

}  // namespace lloyd::experiment
