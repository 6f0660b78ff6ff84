// Process-wide state: results neither depend on nor change the caller's floating-point modes,
// nothing is printed to standard output, and the process's state is restored.
#include <unistd.h>

#include <cfenv>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <lloyd/fit.hpp>
#include <lloyd/process_state.hpp>

#include "conformance/support/cases.hpp"
#include "conformance/support/caught_output.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"
#include "conformance/support/partial_trial.hpp"

namespace lloyd::conformance {
namespace {

// Integers and subnormals: flushing subnormals to zero changes the centroids.
Samples with_denormals(const Context& context) {
  const double least = context.dtype() == DType::float32 ? 0x1p-149 : 0x1p-1074;
  Samples samples = lattice(600, 3, 50, 71);
  for (std::int64_t i = 0; i < samples.n; ++i) samples.values[3 * i] *= least;
  return samples;
}

struct Outputs {
  Trial trial;
  Labelling labelling;
  Accumulated partial;
};

Outputs outputs(Session& session, const Samples& samples, const Setting& setting) {
  Outputs result{{}, {}, Accumulated(0, 0)};
  result.trial = run_fit(session, samples, setting);
  result.labelling = run_label(session, samples, setting.centroids);
  std::vector<std::int32_t> labels(samples.n, -1);
  const std::vector<std::int64_t> cuts{0, samples.n / 2, samples.n};
  result.partial = run_partials(session, samples, setting.centroids, cuts, 5, labels);
  return result;
}

template <class Body>
struct AtEnd {
  Body body;
  ~AtEnd() { body(); }
};

// Runs fits under modes: `set` enables them, `holds` tells whether they are still enabled, `reset`
// restores the defaults.
template <class Set, class Holds, class Reset>
void run_under(const Context& context, const char* mode, Set set, Holds holds, Reset reset) {
  const Samples samples = with_denormals(context);
  Setting setting;
  setting.clusters = 6;
  setting.centroids = first_rows(samples, 6);
  setting.max_iterations = 5;
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, 6);
  const Outputs plain = outputs(*session, samples, setting);
  expect(plain.trial.status.ok(), "fit() failed: {}", status_message(plain.trial.status));

  bool held_open = false;
  bool held_fit = false;
  Outputs moded{{}, {}, Accumulated(0, 0)};
  {
    const AtEnd<Reset> restore{reset};
    set();
    // The session is opened under the mode as well, so that its threads inherit the mode.
    Session* session_under_mode = nullptr;
    const Status status =
        context.backend().open(dataset.view(), context.parameters().list(), &session_under_mode);
    held_open = holds();
    const OwnedSession other =
        opened(status, session_under_mode, fmt::format("data under {}", mode));
    moded = outputs(*other, samples, setting);
    held_fit = holds();
  }
  expect(held_open, "open() did not restore the caller's {}", mode);
  expect(held_fit, "fit(), label() or partial() did not restore the caller's {}", mode);
  const std::string where = fmt::format("under {}", mode);
  expect(moded.trial.status.ok(), "{}: fit() failed: {}", where,
         status_message(moded.trial.status));
  check_trace(context, where, samples, setting, moded.trial);
  check_closing(context, where, samples, moded.trial);
  if (!context.repeatable()) return;
  expect_same_fit(where, samples.d, plain.trial, moded.trial);
  expect_same_labels(where, plain.labelling.labels, moded.labelling.labels);
  expect_same(where + ", label()", "the inertia", plain.labelling.result.inertia,
              moded.labelling.result.inertia);
  expect_same_partials(where + ", partial()", samples.d, plain.partial, moded.partial);
}

void flush_to_zero(const Context& context) {
#if defined(__x86_64__)
  constexpr unsigned kFlush = 0x8040;  // flush-to-zero and denormals-are-zero
  const unsigned saved = _mm_getcsr();
  run_under(
      context, "flush-to-zero", [&] { _mm_setcsr(saved | kFlush); },
      [] { return (_mm_getcsr() & kFlush) == kFlush; }, [&] { _mm_setcsr(saved); });
#else
  (void)context;
  throw CaseSkipped{"flush-to-zero is set on x86-64 only"};
#endif
}

void rounding_mode(const Context& context) {
  run_under(
      context, "rounding upward", [] { std::fesetround(FE_UPWARD); },
      [] { return std::fegetround() == FE_UPWARD; }, [] { std::fesetround(FE_TONEAREST); });
}

Setting small_setting(const Samples& samples) {
  Setting setting;
  setting.clusters = 4;
  setting.centroids = first_rows(samples, 4);
  setting.max_iterations = 3;
  return setting;
}

// Standard output carries the program's results, which other programs parse.
void standard_output(const Context& context) {
  const Samples samples = lattice(60, 3, 20, 72);
  const Dataset dataset = make_dataset(samples, context.dtype());
  CaughtOutput caught;
  if (!caught.works()) throw CaseSkipped{"a pipe cannot be created"};
  {
    const OwnedSession session = context.open(dataset, 4);
    outputs(*session, samples, small_setting(samples));
  }
  const std::string text = caught.end();
  expect(text.empty(), "the backend prints to standard output: '{}'", beginning(text));
}

// Standard input belongs to the program or to the calling script.
void standard_input(const Context& context) {
  const Samples samples = lattice(60, 3, 20, 72);
  const Dataset dataset = make_dataset(samples, context.dtype());
  std::FILE* const file = std::tmpfile();
  if (file == nullptr) throw CaseSkipped{"a temporary file cannot be created"};
  std::fputs("input of somebody else\n", file);
  std::rewind(file);
  std::clearerr(stdin);
  const int saved = ::dup(STDIN_FILENO);
  ::dup2(::fileno(file), STDIN_FILENO);
  const auto back = [&] {
    ::dup2(saved, STDIN_FILENO);
    ::close(saved);
    std::clearerr(stdin);
    std::fclose(file);
  };
  const AtEnd<decltype(back)> restore{back};
  {
    const OwnedSession session = context.open(dataset, 4);
    outputs(*session, samples, small_setting(samples));
  }
  expect(::lseek(STDIN_FILENO, 0, SEEK_CUR) == 0, "the backend reads from standard input");
}

// Checks after each call that the process's state is unchanged, and restores it.
class StateCheck {
 public:
  template <class Call>
  void operator()(const char* name, const Call& call) {
    const ProcessState before;
    call();
    std::string change = before.first_change();
    if (change.empty()) return;
    before.restore();
    if (failure_.empty()) failure_ = fmt::format("{} changes {}", name, change);
  }
  /// The first violation; empty if there was none.
  const std::string& failure() const { return failure_; }

 private:
  std::string failure_;
};

void process_state(const Context& context) {
  const Samples samples = lattice(60, 3, 20, 72);
  const Dataset dataset = make_dataset(samples, context.dtype());
  const Setting setting = small_setting(samples);
  const ParameterList parameters = context.parameters().list();
  const std::string beyond = context.beyond(dataset, setting.clusters);
  if (!beyond.empty()) throw CaseSkipped{beyond};
  const ProblemShape shape = make_shape(dataset, setting.clusters);
  const FitSpec spec = make_spec(setting);
  StateCheck check;
  check("supports()", [&] { (void)context.backend().supports(shape, parameters, spec); });
  check("estimate()", [&] {
    MemoryEstimate memory;
    (void)context.backend().estimate(shape, parameters, spec, memory);
  });
  Session* session = nullptr;
  Status status;
  check("open()", [&] { status = context.backend().open(dataset.view(), parameters, &session); });
  OwnedSession owned = opened(status, session, "a small data set");
  check("query()", [&] { owned->query("an interface that does not exist"); });
  check("fit()", [&] { run_fit(*owned, samples, setting); });
  check("label()", [&] { run_label(*owned, samples, setting.centroids); });
  check("partial()", [&] {
    std::vector<std::int32_t> labels(static_cast<std::size_t>(samples.n), -1);
    run_partials(*owned, samples, setting.centroids, {0, samples.n}, 2, labels);
  });
  check("release()", [&] { const OwnedSession last(std::move(owned)); });
  expect(check.failure().empty(), "{}", check.failure());
}

}  // namespace

void add_environment_cases(std::vector<Case>& cases) {
  cases.push_back({"environment/flush-to-zero", Scope::variants, flush_to_zero});
  cases.push_back({"environment/rounding-mode", Scope::variants, rounding_mode});
  cases.push_back({"environment/standard-output", Scope::variants, standard_output});
  cases.push_back({"environment/standard-input", Scope::variants, standard_input});
  cases.push_back({"environment/process-state", Scope::variants, process_state});
}

}  // namespace lloyd::conformance
