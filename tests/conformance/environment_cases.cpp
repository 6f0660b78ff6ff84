// What a process has only one of: the caller's floating-point modes neither change results nor are
// changed, and nothing is printed among its results.
#include <unistd.h>

#include <cfenv>
#include <cstdio>
#include <memory>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "conformance/cases.hpp"
#include "conformance/checks.hpp"
#include "conformance/comparisons.hpp"
#include "conformance/partial_trial.hpp"

namespace lloyd::conformance {
namespace {

// Denormals beside integers: what flushes them to zero has other centroids.
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

// Runs under modes that `set` sets; `holds` says whether they are still set; `reset` ends them.
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
    // Opened under the mode as well, so that threads the session starts inherit it.
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
  constexpr unsigned kFlush = 0x8040;  // flush to zero, and denormals are zero
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

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Standard output is the program's: its results, which others read.
void standard_output(const Context& context) {
  const std::unique_ptr<std::FILE, CloseFile> caught(std::tmpfile());
  if (caught == nullptr) throw CaseSkipped{"there can be no temporary file"};
  const Samples samples = lattice(60, 3, 20, 72);
  const Dataset dataset = make_dataset(samples, context.dtype());
  Setting setting;
  setting.clusters = 4;
  setting.centroids = first_rows(samples, 4);
  {
    std::fflush(stdout);
    const int saved = ::dup(STDOUT_FILENO);
    const auto back = [saved] {
      std::fflush(stdout);
      ::dup2(saved, STDOUT_FILENO);
      ::close(saved);
    };
    const AtEnd<decltype(back)> restore{back};
    ::dup2(::fileno(caught.get()), STDOUT_FILENO);
    const OwnedSession session = context.open(dataset, 4);
    outputs(*session, samples, setting);
  }
  std::rewind(caught.get());
  char text[61] = {};
  const std::size_t length = std::fread(text, 1, sizeof(text) - 1, caught.get());
  expect(length == 0, "the backend prints to standard output: '{}'", text);
}

}  // namespace

void add_environment_cases(std::vector<Case>& cases) {
  cases.push_back({"environment/flush-to-zero", Scope::variants, flush_to_zero});
  cases.push_back({"environment/rounding-mode", Scope::variants, rounding_mode});
  cases.push_back({"environment/standard-output", Scope::variants, standard_output});
}

}  // namespace lloyd::conformance
