// Runs a plan of the suite and summarises the results.
#include <algorithm>

#include <fmt/format.h>

#include "conformance/conformance.hpp"

#include <lloyd/internal/status_text.hpp>

namespace lloyd::conformance {
namespace {

// Variants of a case are adjacent.
bool ends_case(const Plan& plan, std::size_t index) {
  return index + 1 == plan.cases.size() ||
         plan.cases[index + 1].case_name != plan.cases[index].case_name;
}

// True if all variants of a case were skipped; `first` is the index of the first variant's result.
bool all_skipped(const Report& report, std::size_t first) {
  return std::all_of(report.results.begin() + static_cast<std::ptrdiff_t>(first),
                     report.results.end(),
                     [](const Result& result) { return result.outcome == Outcome::skipped; });
}

void run_cases(const Plan& plan, const CaseRunner& run_case, const Options& options,
               const Reporter& reporter, Report& report) {
  std::size_t first = 0;
  for (std::size_t index = 0; index < plan.cases.size(); ++index) {
    if (options.stop && options.stop()) return;
    std::optional<Result> result = run_case(index);
    if (!result) return;
    add_result(report, std::move(*result), reporter);
    if (!ends_case(plan, index)) continue;
    if (plan.cases[index].essential && all_skipped(report, first)) {
      add_result(report,
                 {plan.cases[index].case_name, Outcome::failed,
                  fmt::format("skipped in every variant, so nothing was verified: {}",
                              report.results[first].message),
                  0},
                 reporter);
    }
    first = report.results.size();
  }
}

}  // namespace

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return "passed";
    case Outcome::failed:
      return "failed";
    case Outcome::skipped:
      return "skipped";
  }
  return "unknown";
}

void add_result(Report& report, Result result, const Reporter& reporter) {
  switch (result.outcome) {
    case Outcome::passed:
      ++report.passed;
      break;
    case Outcome::failed:
      ++report.failed;
      break;
    case Outcome::skipped:
      ++report.skipped;
      break;
  }
  result.name = printable(result.name);
  result.message = printable(result.message);
  report.results.push_back(std::move(result));
  if (reporter) reporter(report.results.back());
}

Report run_plan(const Plan& plan, const CaseRunner& run_case, const Options& options,
                const Reporter& reporter) {
  Report report;
  report.unavailable = plan.unavailable;
  report.matched = static_cast<std::int64_t>(plan.cases.size());
  if (plan.unavailable.empty()) {
    run_cases(plan, run_case, options, reporter, report);
  } else if (report.matched > 0) {
    const Outcome outcome = options.require_available ? Outcome::failed : Outcome::skipped;
    add_result(report, {"available", outcome, plan.unavailable, 0}, reporter);
  }
  return report;
}

Report run(const LoadedBackend& backend, const Options& options, const Reporter& reporter) {
  const Suite suite(backend, options.glob);
  return run_plan(
      suite.plan(), [&](std::size_t index) { return suite.run(index); }, options, reporter);
}

}  // namespace lloyd::conformance
