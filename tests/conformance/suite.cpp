// Lists the cases of the suite for one backend, and runs one of them.
#include <fnmatch.h>

#include <chrono>
#include <sstream>
#include <string_view>

#include <lloyd/process_state.hpp>

#include "conformance/conformance.hpp"
#include "conformance/support/cases.hpp"

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
  add_bisector_cases(cases);
  add_empty_cluster_cases(cases);
  add_stop_cases(cases);
  add_observer_cases(cases);
  add_cancel_cases(cases);
  add_session_cases(cases);
  add_notes_cases(cases);
  add_device_cache_cases(cases);
  add_environment_cases(cases);
  add_partial_cases(cases);
  add_partial_fit_cases(cases);
  add_pass_cases(cases);
  add_window_cases(cases);
  add_seeding_cases(cases);
  add_device_data_cases(cases);
  add_device_pass_cases(cases);
  add_reproducibility_cases(cases);
  add_description_cases(cases);
  add_limit_cases(cases);
  add_refusal_cases(cases);
  return cases;
}

std::vector<DType> supported_dtypes(const BackendInfo& info) {
  std::vector<DType> dtypes;
  if ((info.capabilities & kCapabilityFloat32) != 0) dtypes.push_back(DType::float32);
  if ((info.capabilities & kCapabilityFloat64) != 0) dtypes.push_back(DType::float64);
  return dtypes;
}

// The defaults, then every other value of each choice and boolean, one at a time.
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

void put_back(const ProcessState& before) {
  if (!before.first_change().empty()) before.restore();
}

void data_types(const Context& context) {
  fail(
      "the backend supports no data type: its capability bits {:#x} hold neither float32 nor "
      "float64",
      context.info().capabilities);
}

}  // namespace

bool matches(const std::string& globs, const PlannedCase& planned) {
  std::istringstream rest(globs);
  for (std::string glob; std::getline(rest, glob, ',');) {
    for (const std::string& name : {planned.case_name, planned.name}) {
      if (fnmatch(glob.c_str(), name.c_str(), 0) == 0) return true;
    }
  }
  return false;
}

struct Suite::Entry {
  void (*body)(const Context&);
  DType dtype;
  ParameterSet parameters;
};

Suite::Suite(const LoadedBackend& backend, const std::string& glob) : backend_(backend) {
  plan_.unavailable = backend.unavailable();
  const std::vector<ParameterSet> sets = variants(backend);
  const auto add = [&](const Case& one, DType dtype, const ParameterSet& set) {
    PlannedCase planned{one.name, result_name(one.name, Context(backend, dtype, set)),
                        one.essential};
    if (!matches(glob, planned)) return;
    plan_.cases.push_back(std::move(planned));
    entries_.push_back({one.body, dtype, set});
  };
  const std::vector<DType> dtypes = supported_dtypes(backend.info());
  if (dtypes.empty()) {
    plan_.cases.push_back({"data-types", "data-types"});
    entries_.push_back({data_types, DType::float32, sets.front()});
    return;
  }
  for (const Case& one : all_cases()) {
    for (const DType dtype : dtypes) {
      for (const ParameterSet& set : sets) {
        add(one, dtype, set);
        if (one.scope != Scope::variants) break;
      }
      if (one.scope == Scope::once) break;
    }
  }
}

Suite::~Suite() = default;

Result Suite::run(std::size_t index, const SettingReporter& report_setting) const {
  const Entry& entry = entries_[index];
  const Context context(backend_, entry.dtype, entry.parameters, &report_setting);
  Result result;
  result.name = plan_.cases[index].name;
  const auto start = std::chrono::steady_clock::now();
  try {
    const ProcessState before;  // restored, so that cases are independent
    try {
      entry.body(context);
    } catch (...) {
      put_back(before);
      throw;
    }
    put_back(before);
  } catch (const CaseSkipped& skipped) {
    result.outcome = Outcome::skipped;
    result.message = skipped.reason;
  } catch (const CaseFailed& failed) {
    result.outcome = Outcome::failed;
    result.message = failed.message;
  } catch (const std::exception& error) {
    result.outcome = Outcome::failed;
    const std::string_view what = error.what();
    result.message = what.empty() ? "unexpected exception without a message"
                                  : fmt::format("unexpected exception: {}", what);
  }
  if (context.samples_changed()) {  // whatever else is wrong, follows
    result.outcome = Outcome::failed;
    result.message = "the backend changed the samples, which it may only read";
  }
  result.elapsed_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const Case& one : all_cases()) names.emplace_back(one.name);
  return names;
}

}  // namespace lloyd::conformance
