// The declared reproducibility of a backend.
#include <algorithm>
#include <set>
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

void repeated(const Context& context) {
  if (!context.repeatable()) throw CaseSkipped{"the backend does not claim to be reproducible"};
  for (const RepeatedProblem& p : problems(context, 9001)) {
    const Trial first = fresh_fit(context, p.samples, p.setting);
    for (int repeat = 0; repeat < 3; ++repeat) {
      const Trial again = fresh_fit(context, p.samples, p.setting);
      expect_same_fit(describe(p.name, p.samples, p.setting) + " repeated", p.samples.d, first,
                      again);
    }
  }
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
        ParameterSet set = context.parameters();
        set.set(parameter.name, std::to_string(value));
        // For example a device that does not exist.
        if (!context.beyond(dataset, p.setting.clusters, set).empty()) continue;
        Session* session = nullptr;
        const Status status = context.backend().open(dataset.view(), set.list(), &session);
        if (status.code == StatusCode::unavailable) continue;
        const OwnedSession owned =
            opened(status, session, fmt::format("data with {}={}", parameter.name, value));
        const Trial trial = run_fit(*owned, p.samples, p.setting);
        expect(trial.status.ok(), "fit() with {}={} failed: {}", parameter.name, value,
               status_message(trial.status));
        expect_same_fit(fmt::format("{} with {}={}", describe(p.name, p.samples, p.setting),
                                    parameter.name, value),
                        p.samples.d, expected, trial);
      }
    }
  }
}

}  // namespace

void add_reproducibility_cases(std::vector<Case>& cases) {
  cases.push_back({"reproducibility/repeated", Scope::variants, repeated});
  cases.push_back({"reproducibility/parameters", Scope::variants, parameters});
}

}  // namespace lloyd::conformance
