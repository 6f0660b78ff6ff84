// The declared reproducibility of a backend.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"

namespace lloyd::conformance {
namespace {

struct RepeatedProblem {
  const char* name;
  Samples samples;
  Setting setting;
};

// One data set for each form of sums: one word, two words, compensated.
std::vector<RepeatedProblem> problems(const Context& context, std::int64_t n) {
  std::vector<RepeatedProblem> result;
  for (const char* name : {"one cloud", "an outlier"}) {
    RepeatedProblem p{name, rounded(cloud(n, 3, 95), context.dtype()), {}};
    if (result.size() == 1) p.samples.values[777] = static_cast<float>(1e30);
    p.setting.clusters = 11;
    p.setting.centroids = first_rows(p.samples, 11);
    p.setting.max_iterations = 8;
    result.push_back(std::move(p));
  }
  return result;
}

// As expect_same_fit(). A difference between fits that differ in timing or in the number of threads
// only is often a data race.
void expect_repeated_fit(const std::string& where, std::int64_t d, const Trial& expected,
                         const Trial& got) {
  try {
    expect_same_fit(where, d, expected, got);
  } catch (const CaseFailed& failed) {
    fail(
        "{}. If the plugin has threads, this may be a data race; ThreadSanitizer finds it: compile "
        "the plugin with -fsanitize=thread, then LD_PRELOAD=$(g++ -print-file-name=libtsan.so) "
        "lloyd verify PLUGIN --case 'reproducibility/*' --timeout 1200",
        failed.message);
  }
}

void repeated(const Context& context) {
  if (!context.repeatable()) throw CaseSkipped{"the backend does not claim to be reproducible"};
  for (const RepeatedProblem& p : problems(context, 9001)) {
    const Trial first = fresh_fit(context, p.samples, p.setting);
    for (int repeat = 0; repeat < 3; ++repeat) {
      const Trial again = fresh_fit(context, p.samples, p.setting);
      expect_repeated_fit(describe(p.name, p.samples, p.setting) + " repeated", p.samples.d, first,
                          again);
    }
  }
}

// A fit with one parameter changed; empty if the backend does not support that, for example a
// device that does not exist.
std::optional<Trial> fit_with(const Context& context, const Dataset& dataset,
                              const RepeatedProblem& p, const char* parameter, std::int64_t value,
                              const Run& run = {}) {
  ParameterSet set = context.parameters();
  set.set(parameter, std::to_string(value));
  const VariedParameter varied(context, parameter, std::to_string(value));
  if (!context.beyond(dataset, make_spec(p.setting), set).empty()) return std::nullopt;
  Session* session = nullptr;
  const Status status = context.backend().open(dataset.view(), set.list(), &session);
  if (status.code == StatusCode::unavailable) return std::nullopt;
  const OwnedSession owned =
      opened(status, session, fmt::format("data with {}={}", parameter, value));
  Trial trial = run_fit(*owned, p.samples, p.setting, run);
  expect(trial.status.ok(), "fit() with {}={} failed: {}", parameter, value,
         status_message(trial.status));
  return trial;
}

// Each integer parameter at 1 and 7, and `threads` also at 2 and 3, clamped to their ranges.
void parameters(const Context& context) {
  if (!context.order_free()) {
    throw CaseSkipped{"the backend does not claim the same bits for any number of threads"};
  }
  for (const RepeatedProblem& p : problems(context, 501)) {
    const Dataset dataset = make_dataset(p.samples, context.dtype());
    const Trial expected = fresh_fit(context, p.samples, p.setting);
    for (const ParameterInfo& parameter : context.parameters().schema()) {
      if (parameter.type != ParameterType::integer) continue;
      // Block sizes of a few rows are the slowest.
      std::vector<std::int64_t> wanted = {1, 7};
      if (std::string_view(parameter.name) == "threads") wanted.insert(wanted.end(), {2, 3});
      std::set<std::int64_t> values;
      for (const std::int64_t value : wanted) {
        values.insert(std::clamp(value, parameter.integer_minimum, parameter.integer_maximum));
      }
      for (const std::int64_t value : values) {
        const std::optional<Trial> trial = fit_with(context, dataset, p, parameter.name, value);
        if (!trial) continue;
        expect_repeated_fit(fmt::format("{} with {}={}", describe(p.name, p.samples, p.setting),
                                        parameter.name, value),
                            p.samples.d, expected, *trial);
      }
    }
  }
}

// Several blocks of kBlockRows rows for each of several workers, repeated: a data race between
// workers shows only while they run at the same time. A fault that is the same for all numbers of
// threads shows in a fit with the defaults, which is checked by the definition.
void thread_counts(const Context& context) {
  if (!context.order_free()) {
    throw CaseSkipped{"the backend does not claim the same bits for any number of threads"};
  }
  const std::vector<ParameterInfo>& schema = context.parameters().schema();
  const auto parameter = std::find_if(schema.begin(), schema.end(), [](const ParameterInfo& info) {
    return info.type == ParameterType::integer && std::string_view(info.name) == "threads";
  });
  if (parameter == schema.end()) {
    throw CaseSkipped{"the backend has no integer parameter 'threads'"};
  }
  // The last block, its last vector and the last panel of centroids are incomplete.
  constexpr std::int64_t kRows = 60013;
  constexpr std::int64_t kClusters = 41;
  constexpr int kRepeats = 3;
  RepeatedProblem p{"many blocks", rounded(cloud(kRows, 4, 96), context.dtype()), {}};
  p.setting.clusters = kClusters;
  p.setting.centroids = first_rows(p.samples, p.setting.clusters);
  p.setting.max_iterations = 5;
  const Dataset dataset = make_dataset(p.samples, context.dtype());
  Trial verified;
  const bool is_verified = verify_fit(context, p.name, p.samples, p.setting, {}, &verified);
  Run run;
  run.observe = 0;
  const auto fit_on = [&](std::int64_t count) {
    return fit_with(context, dataset, p, "threads",
                    std::clamp(count, parameter->integer_minimum, parameter->integer_maximum), run);
  };
  const std::optional<Trial> expected = fit_on(1);
  if (!expected) {
    throw CaseSkipped{"the backend does not support a fit on one thread: " + context.refusal()};
  }
  if (is_verified) {
    expect_repeated_fit(fmt::format("{} with threads=1 instead of the default",
                                    describe(p.name, p.samples, p.setting)),
                        p.samples.d, verified, *expected);
  }
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const std::int64_t count : {2, 3, 7}) {
      const std::optional<Trial> trial = fit_on(count);
      if (!trial) continue;
      expect_repeated_fit(
          fmt::format("{} with threads={}", describe(p.name, p.samples, p.setting), count),
          p.samples.d, *expected, *trial);
    }
  }
}

}  // namespace

void add_reproducibility_cases(std::vector<Case>& cases) {
  cases.push_back({"reproducibility/repeated", Scope::variants, repeated});
  cases.push_back({"reproducibility/parameters", Scope::variants, parameters});
  cases.push_back({"reproducibility/threads", Scope::defaults, thread_counts});
}

}  // namespace lloyd::conformance
