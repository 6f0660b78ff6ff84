#include <fnmatch.h>

#include <algorithm>
#include <chrono>

#include "conformance/cases.hpp"
#include "conformance/conformance.hpp"

namespace lloyd::conformance {
namespace {

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  add_lattice_cases(cases);
  add_invariant_cases(cases);
  add_whole_fit_cases(cases);
  add_edge_cases(cases);
  add_layout_cases(cases);
  add_range_cases(cases);
  add_empty_cluster_cases(cases);
  add_stop_cases(cases);
  add_observer_cases(cases);
  add_cancel_cases(cases);
  add_session_cases(cases);
  add_environment_cases(cases);
  add_partial_cases(cases);
  add_partial_fit_cases(cases);
  add_reproducibility_cases(cases);
  add_description_cases(cases);
  add_limit_cases(cases);
  add_refusal_cases(cases);
  return cases;
}

std::vector<DType> supported_dtypes(const BackendInfo& info) {
  std::vector<DType> dtypes;
  if ((info.features & kFeatureFloat32) != 0) dtypes.push_back(DType::float32);
  if ((info.features & kFeatureFloat64) != 0) dtypes.push_back(DType::float64);
  return dtypes;
}

// The defaults, then every other value of every choice and boolean, one at a time.
std::vector<ParameterSet> variants(const LoadedBackend& backend) {
  std::vector<ParameterSet> result{backend.default_parameters()};
  const std::vector<ParameterInfo> schema = result.front().schema();
  for (const ParameterInfo& parameter : schema) {
    std::vector<std::string> texts;
    if (parameter.type == ParameterType::boolean) {
      texts.emplace_back(parameter.integer_default != 0 ? "false" : "true");
    }
    const bool chosen = parameter.type == ParameterType::choice;
    for (std::int32_t choice = 0; chosen && choice < parameter.choice_count; ++choice) {
      if (choice != parameter.integer_default) texts.emplace_back(parameter.choices[choice]);
    }
    for (const std::string& text : texts) {
      result.push_back(backend.default_parameters());
      result.back().set(parameter.name, text);
    }
  }
  return result;
}

std::string result_name(const char* name, const Context& context) {
  const std::string changes = context.parameters().describe_changes();
  return fmt::format("{}/{}{}{}", name, context.dtype() == DType::float32 ? "float32" : "float64",
                     changes.empty() ? "" : "/", changes);
}

bool matches(const std::string& glob, const std::string& name) {
  return fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

template <class Body>
Result timed_result(std::string name, Body&& body) {
  Result result;
  result.name = std::move(name);
  const auto start = std::chrono::steady_clock::now();
  try {
    body();
  } catch (const CaseSkipped& skipped) {
    result.outcome = Outcome::skipped;
    result.message = skipped.reason;
  } catch (const CaseFailed& failed) {
    result.outcome = Outcome::failed;
    result.message = failed.message;
  } catch (const std::exception& error) {
    result.outcome = Outcome::failed;
    result.message = fmt::format("unexpected exception: {}", error.what());
  }
  result.elapsed_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return result;
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

// Skipped in all variants: `first` is the index of the first one's result.
bool all_skipped(const Report& report, std::size_t first) {
  return first < report.results.size() &&
         std::all_of(report.results.begin() + static_cast<std::ptrdiff_t>(first),
                     report.results.end(),
                     [](const Result& result) { return result.outcome == Outcome::skipped; });
}

void run_case(const Case& one, const Context& context, const Options& options, Report& report,
              const Reporter& reporter) {
  std::string name = result_name(one.name, context);
  if (!matches(options.glob, one.name) && !matches(options.glob, name)) return;
  ++report.matched;
  if (!report.unavailable.empty() || (options.stop && options.stop())) return;
  add_result(report, timed_result(std::move(name), [&] { one.body(context); }), reporter);
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

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const Case& one : all_cases()) names.emplace_back(one.name);
  return names;
}

Report run(const LoadedBackend& backend, const Options& options, const Reporter& reporter) {
  Report report;
  report.unavailable = backend.unavailable();
  const std::vector<DType> dtypes = supported_dtypes(backend.info());
  const std::vector<ParameterSet> sets = variants(backend);
  if (dtypes.empty()) {
    ++report.matched;
    add_result(report,
               {"data-types", Outcome::failed,
                fmt::format("the backend supports no data type: its feature bits {:#x} hold "
                            "neither float32 nor float64",
                            backend.info().features),
                0},
               reporter);
    return report;
  }
  for (const Case& one : all_cases()) {
    const std::size_t first = report.results.size();
    for (const DType dtype : dtypes) {
      for (const ParameterSet& set : sets) {
        run_case(one, Context(backend, dtype, set), options, report, reporter);
        if (one.scope != Scope::variants) break;
      }
      if (one.scope == Scope::once) break;
    }
    if (one.essential && all_skipped(report, first)) {
      add_result(
          report,
          {one.name, Outcome::failed, "skipped in every variant, so nothing was verified", 0},
          reporter);
    }
  }
  if (!report.unavailable.empty() && report.matched > 0) {
    Result result;
    result.name = "available";
    result.outcome = options.require_available ? Outcome::failed : Outcome::skipped;
    result.message = report.unavailable;
    add_result(report, std::move(result), reporter);
  }
  return report;
}

}  // namespace lloyd::conformance
