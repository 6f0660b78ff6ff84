// The conformance suite: named cases that hold any backend to what a fit means.
#pragma once

#include <cstdint>
#include <functional>
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
  std::int64_t matched = 0;  ///< results that the glob selects, run or not
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

/// Runs the cases; `reporter` may be empty, and is called after each result.
Report run(const LoadedBackend& backend, const Options& options = {},
           const Reporter& reporter = {});

/// Runs fits of two backends inside one another and holds them to the results they give alone.
Result run_interleaved(const LoadedBackend& first, const LoadedBackend& second);

}  // namespace lloyd::conformance
