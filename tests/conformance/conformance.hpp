// The conformance suite: named cases that hold any backend to what a fit means.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/registry.hpp>

namespace lloyd::conformance {

enum class Outcome { passed, failed, skipped };

/// "passed", "failed", "skipped".
const char* to_string(Outcome outcome);

/// One case run with one data type and one set of parameters.
struct Result {
  /// "lattice/whole-fit/float32", with "/layout=aos" where a parameter is not at its default.
  std::string name;
  Outcome outcome = Outcome::passed;
  /// Failed: what was expected, what came, and where. Skipped: why. Else empty.
  std::string message;
  double elapsed_ms = 0;
};

using Reporter = std::function<void(const Result&)>;

struct Options {
  /// Cases to run, with '*' and '?': matched with the case's name ("empty/*") and with the name of
  /// a result ("*/float64").
  std::string glob = "*";
  /// An unavailable backend fails instead of being skipped.
  bool require_available = false;
  /// Asked before each case; true ends the run there. May be empty.
  std::function<bool()> stop;
};

struct Report {
  std::vector<Result> results;
  std::int64_t matched = 0;  ///< planned cases, run or not
  std::int64_t passed = 0;
  std::int64_t failed = 0;
  std::int64_t skipped = 0;
  /// Why nothing was run, for a backend that is unavailable here; else empty.
  std::string unavailable;

  /// Some case passed and none failed. A suite that was skipped as a whole has verified nothing,
  /// and an essential case that was skipped in every variant counts as failed.
  bool verified() const { return passed > 0 && failed == 0; }
};

/// Names of all cases, in the order in which they are run.
std::vector<std::string> case_names();

/// One case with one data type and one set of parameters, before it is run.
struct PlannedCase {
  std::string case_name;   ///< "lattice/whole-fit"
  std::string name;        ///< that of its result
  bool essential = false;  ///< a case that is skipped in every variant has failed
};

/// What a run of the suite on one backend consists of.
struct Plan {
  std::vector<PlannedCase> cases;  ///< those that the glob selects, variants side by side
  std::string unavailable;         ///< as in Report; nothing is run then
};

/// The cases for one backend, one by one.
class Suite {
 public:
  /// `backend` must outlive the suite.
  Suite(const LoadedBackend& backend, const std::string& glob);
  ~Suite();
  Suite(const Suite&) = delete;
  Suite& operator=(const Suite&) = delete;

  const Plan& plan() const { return plan_; }
  /// Runs plan().cases[index].
  Result run(std::size_t index) const;

 private:
  struct Entry;
  const LoadedBackend& backend_;
  Plan plan_;
  std::vector<Entry> entries_;  // one for each planned case
};

/// Runs the planned case of an index; nothing ends the run there.
using CaseRunner = std::function<std::optional<Result>(std::size_t index)>;

/// Runs a plan and judges the whole; `reporter` may be empty, and is called after each result.
Report run_plan(const Plan& plan, const CaseRunner& run_case, const Options& options = {},
                const Reporter& reporter = {});
/// Adds a result that is in no plan.
void add_result(Report& report, Result result, const Reporter& reporter = {});

/// Runs the cases in this process.
Report run(const LoadedBackend& backend, const Options& options = {},
           const Reporter& reporter = {});

/// Runs fits of two backends inside one another and holds them to the results they give alone.
Result run_interleaved(const LoadedBackend& first, const LoadedBackend& second);

}  // namespace lloyd::conformance
