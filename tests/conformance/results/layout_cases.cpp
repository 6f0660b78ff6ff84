// Memory layouts: strided rows, and alignment to a single value.
#include <algorithm>

#include "conformance/support/cases.hpp"
#include "conformance/support/checks.hpp"
#include "conformance/support/comparisons.hpp"
#include "conformance/support/partial_trial.hpp"

namespace lloyd::conformance {
namespace {

// A fit with another layout passes all checks and gives the bits of the plain layout.
void compare_layout(const Context& context, const char* name, Layout layout) {
  for (const std::int64_t d : {1, 3, 8, 17}) {
    const Samples samples = rounded(cloud(1003, d, static_cast<std::uint64_t>(d)), context.dtype());
    Setting setting;
    setting.clusters = 7;
    setting.centroids = first_rows(samples, 7);
    setting.max_iterations = 6;
    Trial trial;
    if (!verify_fit(context, name, samples, setting, layout, &trial)) {
      throw CaseSkipped{"the backend does not support the layout: " + context.refusal()};
    }
    if (!context.order_free()) continue;
    expect_same_fit(describe(name, samples, setting) + " against plain rows", d,
                    fresh_fit(context, samples, setting), trial);
  }
}

void unaligned(const Context& context) {
  for (const std::int64_t offset : {1, 3}) compare_layout(context, "unaligned", {0, offset});
}

// Gaps are NaN, so sums that include one become NaN.
void strided(const Context& context) {
  for (const std::int64_t gap : {1, 16}) compare_layout(context, "strided", {gap, 0});
}

void strided_and_unaligned(const Context& context) {
  compare_layout(context, "strided and unaligned", {5, 1});
}

// The samples and the gaps between them are not written to.
void unchanged(const Context& context) {
  const Samples samples = rounded(cloud(301, 5, 7), context.dtype());
  const bool strided = (context.info().capabilities & kCapabilityStrided) != 0;
  const Dataset dataset = make_dataset(samples, context.dtype(), {strided ? 3 : 0, 0});
  const DatasetView view = dataset.view();
  const auto* bytes = static_cast<const unsigned char*>(view.data);
  const std::int64_t row = view.stride * size_of(view.dtype);
  const std::vector<unsigned char> before(
      bytes, bytes + (view.samples - 1) * row + view.features * size_of(view.dtype));
  const auto check = [&](const char* call) {
    const auto change = std::mismatch(before.begin(), before.end(), bytes);
    expect(change.first == before.end(), "{} changed the data set in row {}", call,
           (change.first - before.begin()) / row);
  };
  {
    const std::string reason = context.beyond(dataset, 4);
    if (!reason.empty()) throw CaseSkipped{reason};
    Session* given = nullptr;
    const Status status = context.backend().open(view, context.parameters().list(), &given);
    const OwnedSession session = opened(status, given, "301 samples");
    check("open()");
    Setting setting;
    setting.clusters = 4;
    setting.centroids = first_rows(samples, 4);
    run_fit(*session, samples, setting);
    check("fit()");
    run_label(*session, samples, setting.centroids);
    check("label()");
    std::vector<std::int32_t> labels(samples.n, -1);
    run_partials(*session, samples, setting.centroids, {0, samples.n}, 2, labels);
    check("partial()");
  }
  check("release()");
}

}  // namespace

void add_layout_cases(std::vector<Case>& cases) {
  cases.push_back({"layout/unaligned", Scope::variants, unaligned});
  cases.push_back({"layout/strided", Scope::variants, strided});
  cases.push_back({"layout/strided-and-unaligned", Scope::variants, strided_and_unaligned});
  cases.push_back({"layout/unchanged", Scope::variants, unchanged});
}

}  // namespace lloyd::conformance
