// Compares random fits of the canonical backends with the reference, bit for bit and iteration by
// iteration, with random parameters.
// Usage: random_fits [--fits N] [--seed S] [BACKEND...]
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/registry.hpp>

#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"
#include "random_fits/random_problem.hpp"

namespace {

using namespace lloyd;

struct Arguments {
  std::int64_t fits = 200;
  std::uint64_t seed = 1;
  std::vector<std::string> backends;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool fits = argument == "--fits";
    if (!fits && argument != "--seed") {
      arguments.backends.push_back(argument);
      continue;
    }
    std::size_t used = 0;
    const std::string value = i + 1 < argc ? argv[++i] : "";
    const unsigned long long number = value.empty() ? 0 : std::stoull(value, &used);
    if (value.empty() || used != value.size()) {
      throw InputError(fmt::format("{} takes a whole number, not '{}'", argument, value));
    }
    if (fits) {
      arguments.fits = static_cast<std::int64_t>(number);
    } else {
      arguments.seed = number;
    }
  }
  return arguments;
}

using Backends = std::vector<std::shared_ptr<const LoadedBackend>>;

// The named backends, or all available ones that declare canonical results.
Backends choose_backends(const std::vector<std::string>& names) {
  Registry registry(Registry::default_folders());
  Backends chosen;
  for (const std::string& name : names) chosen.push_back(registry.load(name));
  if (!names.empty()) return chosen;
  for (const auto& backend : registry.load_all()) {
    const bool canonical = backend->reproducibility(DType::float64) == Reproducibility::canonical;
    if (backend->available() && canonical) chosen.push_back(backend);
  }
  return chosen;
}

// Outcomes of a backend's fits.
struct Tally {
  std::int64_t equal = 0;  ///< equal to the reference, bit for bit
  std::int64_t different = 0;
  std::int64_t refused = 0;  ///< refused by the backend: limits, or parameters this machine lacks
  std::int64_t compensated = 0;  ///< compensated sums are not canonical, so the fit is not compared
};

// Runs one problem on one backend; prints any difference and the number of the problem.
void run_fit(const LoadedBackend& backend, std::uint64_t seed, Tally& tally) {
  const random_fits::Problem problem =
      random_fits::draw_problem(seed, backend.reproducibility(DType::float32));
  const ParameterSet parameters =
      random_fits::draw_parameters(backend.default_parameters(), seed + 1);
  const conformance::Context context(backend, problem.dtype, parameters);
  const std::string where =
      conformance::describe(problem.kind.c_str(), problem.samples, problem.setting);
  try {
    const conformance::Trial trial =
        conformance::fresh_fit(context, problem.samples, problem.setting, problem.layout);
    if (trial.result.sum_form == SumForm::compensated) {
      ++tally.compensated;
      return;
    }
    conformance::expect_reference_bits(where, problem.samples, problem.setting, trial);
    ++tally.equal;
  } catch (const conformance::CaseSkipped&) {
    ++tally.refused;
  } catch (const conformance::CaseFailed& failure) {
    ++tally.different;
    fmt::print("{} {} (problem {}): {}\n", backend.name(), parameters.describe_changes(), seed,
               failure.message);
  }
}

int run(const Arguments& arguments) {
  const Backends backends = choose_backends(arguments.backends);
  if (backends.empty()) throw InputError("no canonical backend is available");
  std::map<std::string, Tally> tallies;
  std::int64_t compared = 0;
  // A problem that cannot be compared is replaced by another, up to a limit.
  const std::int64_t max_attempts = 20 * arguments.fits;
  for (std::int64_t i = 0; compared < arguments.fits && i < max_attempts; ++i) {
    const LoadedBackend& backend = *backends[static_cast<std::size_t>(i) % backends.size()];
    Tally& tally = tallies[backend.name()];
    const std::int64_t before = tally.equal + tally.different;
    run_fit(backend, arguments.seed * 1000003 + 2 * static_cast<std::uint64_t>(i), tally);
    compared += tally.equal + tally.different - before;
  }
  std::int64_t different = 0;
  for (const auto& [name, tally] : tallies) {
    fmt::print(
        "{}: {} fits equal the reference, {} differ; not compared: {} refused, {} summed in "
        "the compensated form\n",
        name, tally.equal, tally.different, tally.refused, tally.compensated);
    different += tally.different;
  }
  if (compared < arguments.fits) {
    fmt::print("only {} of {} fits could be compared\n", compared, arguments.fits);
  }
  return different == 0 && compared == arguments.fits ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(read_arguments(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "random_fits: {}\n", error.what());
    return 2;
  }
}
