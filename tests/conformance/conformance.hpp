// The conformance suite: named cases that test whether a backend implements the definition of a
// fit.
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

/// The result of one case with one data type and one parameter set.
struct Result {
  /// "lattice/whole-fit/float32", plus "/layout=aos" for each parameter not at its default.
  std::string name;
  Outcome outcome = Outcome::passed;
  /// Failed: the expected value, the actual value, and the place. Skipped: the reason. Else empty.
  std::string message;
  double elapsed_ms = 0;
};

using Reporter = std::function<void(const Result&)>;

struct Options {
  /// Cases to run, with the wildcards '*' and '?'; several patterns are separated by ','. Matched
  /// against the case's name ("empty/*") and the name of a result ("*/float64").
  std::string glob = "*";
  /// If true, an unavailable backend fails; otherwise it is skipped.
  bool require_available = false;
  /// Polled before each case; the run ends when it returns true. May be empty.
  std::function<bool()> stop;
};

struct Report {
  std::vector<Result> results;
  std::int64_t matched = 0;  ///< planned cases that match the glob, run or not
  std::int64_t passed = 0;
  std::int64_t failed = 0;
  std::int64_t skipped = 0;
  /// Why nothing was run if the backend is unavailable; else empty.
  std::string unavailable;

  /// True if at least one case passed and none failed. A suite that was skipped as a whole has
  /// verified nothing, and an essential case that was skipped in every variant counts as failed.
  bool verified() const { return passed > 0 && failed == 0; }
};

/// The names of all cases, in the order of the run.
std::vector<std::string> case_names();

/// One case with one data type and one parameter set, before it is run.
struct PlannedCase {
  std::string case_name;   ///< "lattice/whole-fit"
  std::string name;        ///< name of its result
  bool essential = false;  ///< counts as failed if it is skipped in every variant
};

/// True if the case, or its result, has a name that matches one of the globs, which are separated
/// by ','.
bool matches(const std::string& globs, const PlannedCase& planned);

/// The planned cases of the suite for one backend.
struct Plan {
  std::vector<PlannedCase> cases;  ///< selected by the glob; variants of a case are adjacent
  std::string unavailable;         ///< as in Report; no case is run then
};

/// The suite for one backend; its cases can be run one by one.
class Suite {
 public:
  /// `backend` must outlive the suite.
  Suite(const LoadedBackend& backend, const std::string& glob);
  ~Suite();
  Suite(const Suite&) = delete;
  Suite& operator=(const Suite&) = delete;

  const Plan& plan() const { return plan_; }
  /// Runs plan().cases[index]. `report_setting` receives the parameter value that the case is about
  /// to use in addition to those of its name, such as "tile=0", and an empty text when it no longer
  /// uses it. It may be empty, and must not throw.
  Result run(std::size_t index,
             const std::function<void(const std::string& setting)>& report_setting = {}) const;

 private:
  struct Entry;
  const LoadedBackend& backend_;
  Plan plan_;
  std::vector<Entry> entries_;  // one per planned case
};

/// Runs the planned case with this index; nullopt ends the run.
using CaseRunner = std::function<std::optional<Result>(std::size_t index)>;

/// Runs a plan and summarises it; `reporter` may be empty and is called after each result.
Report run_plan(const Plan& plan, const CaseRunner& run_case, const Options& options = {},
                const Reporter& reporter = {});
/// Adds a result that does not belong to the plan.
void add_result(Report& report, Result result, const Reporter& reporter = {});

/// Runs the cases in this process.
Report run(const LoadedBackend& backend, const Options& options = {},
           const Reporter& reporter = {});

/// Runs fits of two backends nested in one another, and compares the results with those of each
/// backend alone.
Result run_interleaved(const LoadedBackend& first, const LoadedBackend& second);

}  // namespace lloyd::conformance
