// Where samples lie in memory: rows apart, and no alignment beyond that of a value.
#include "conformance/cases.hpp"
#include "conformance/checks.hpp"
#include "conformance/comparisons.hpp"

namespace lloyd::conformance {
namespace {

// A fit under another layout passes all checks and has the bits of the plain one.
void compare_layout(const Context& context, const char* name, Layout layout) {
  for (const std::int64_t d : {1, 3, 8, 17}) {
    const Samples samples = rounded(cloud(1003, d, static_cast<std::uint64_t>(d)), context.dtype());
    Setting setting;
    setting.clusters = 7;
    setting.centroids = first_rows(samples, 7);
    setting.max_iterations = 6;
    Trial trial;
    if (!verify_fit(context, name, samples, setting, layout, &trial)) {
      throw CaseSkipped{"the layout is beyond the backend"};
    }
    if (!context.order_free()) continue;
    expect_same_fit(describe(name, samples, setting) + " against plain rows", d,
                    fresh_fit(context, samples, setting), trial);
  }
}

void unaligned(const Context& context) {
  for (const std::int64_t offset : {1, 3}) compare_layout(context, "unaligned", {0, offset});
}

// Gaps are NaN: whoever reads one spoils its sums.
void strided(const Context& context) {
  for (const std::int64_t gap : {1, 16}) compare_layout(context, "strided", {gap, 0});
}

void strided_and_unaligned(const Context& context) {
  compare_layout(context, "strided and unaligned", {5, 1});
}

}  // namespace

void add_layout_cases(std::vector<Case>& cases) {
  cases.push_back({"layout/unaligned", Scope::variants, unaligned});
  cases.push_back({"layout/strided", Scope::variants, strided});
  cases.push_back({"layout/strided-and-unaligned", Scope::variants, strided_and_unaligned});
}

}  // namespace lloyd::conformance
