// Two plugins in one process: fits of one run inside fits of the other.
#include "conformance/conformance.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"

namespace lloyd::conformance {
namespace {

// Runs a fit in another backend's session during each iteration.
class Nesting : public Recorder {
 public:
  Nesting(const Samples& samples, const Setting& setting, Session& other)
      : Recorder(samples.n, setting.clusters * samples.d),
        samples_(samples),
        setting_(setting),
        other_(other) {}
  bool on_iteration(const IterationRecord& record) noexcept override {
    try {
      nested.push_back(run_fit(other_, samples_, setting_));
    } catch (const CaseFailed& failed) {
      nested.emplace_back();
      nested.back().status = Status::error(StatusCode::internal, failed.message);
    }
    return Recorder::on_iteration(record);
  }
  std::vector<Trial> nested;

 private:
  const Samples& samples_;
  const Setting& setting_;
  Session& other_;
};

void check_nested(const Context& outer, const Context& inner, const Samples& samples) {
  Setting setting;
  setting.clusters = 6;
  setting.centroids = first_rows(samples, 6);
  setting.max_iterations = 5;
  const Trial alone_outer = fresh_fit(outer, samples, setting);
  const Trial alone_inner = fresh_fit(inner, samples, setting);
  const Dataset dataset = make_dataset(samples, outer.dtype());
  const OwnedSession outer_session = outer.open(dataset, 6);
  const OwnedSession inner_session = inner.open(dataset, 6);
  Nesting nesting(samples, setting, *inner_session);
  const Trial trial = run_fit(*outer_session, samples, setting, nesting);
  const auto check = [&](const Context& context, const char* where, const Trial& alone,
                         const Trial& got) {
    expect(got.status.ok(), "{}: fit() failed: {}", where, status_message(got.status));
    check_trace(context, where, samples, setting, got);
    check_closing(context, where, samples, got);
    if (context.repeatable()) expect_same_fit(where, samples.d, alone, got);
  };
  check(outer, "outer fit", alone_outer, trial);
  for (const Trial& nested : nesting.nested) check(inner, "inner fit", alone_inner, nested);
}

// The first data type that both backends support.
DType common_dtype(const LoadedBackend& first, const LoadedBackend& second) {
  const std::uint64_t both = first.info().capabilities & second.info().capabilities;
  if ((both & kCapabilityFloat32) != 0) return DType::float32;
  if ((both & kCapabilityFloat64) != 0) return DType::float64;
  throw CaseSkipped{"the two backends have no data type in common"};
}

}  // namespace

Result run_interleaved(const LoadedBackend& first, const LoadedBackend& second) {
  Result result;
  result.name = fmt::format("interleaved/{}/{}", first.name(), second.name());
  try {
    for (const LoadedBackend* backend : {&first, &second}) {
      if (!backend->available()) throw CaseSkipped{backend->unavailable()};
    }
    const DType dtype = common_dtype(first, second);
    const Samples samples = rounded(cloud(1500, 3, 99), dtype);
    const Context one(first, dtype, first.default_parameters());
    const Context other(second, dtype, second.default_parameters());
    check_nested(one, other, samples);
    check_nested(other, one, samples);
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
  return result;
}

}  // namespace lloyd::conformance
