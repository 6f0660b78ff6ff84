#include "conformance/support/partial_trial.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "conformance/support/comparisons.hpp"

namespace lloyd::conformance {
namespace {

bool farther(const FarSample& a, const FarSample& b) {
  return a.squared_distance != b.squared_distance ? a.squared_distance > b.squared_distance
                                                  : a.row < b.row;
}

// True if a sum of squares can be read: no carry can overflow, and the chunks beyond all float64
// values are empty.
bool readable(const ExactSum& sum) {
  constexpr std::int64_t kMaxChunk = std::int64_t{1} << 62;
  return std::all_of(std::begin(sum.chunks), std::end(sum.chunks),
                     [](std::int64_t chunk) { return -kMaxChunk < chunk && chunk < kMaxChunk; }) &&
         sum.chunks[ExactSum::kChunks - 1] == 0;
}

// Checks everything that is later used as an index or summed.
void check_outputs(const std::string& where, RowRange rows, const PartialResult& result,
                   const std::vector<std::int32_t>& labels, const Accumulated& before,
                   const std::vector<std::int64_t>& counts) {
  const auto k = static_cast<std::int64_t>(counts.size());
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    expect(labels[i] >= 0 && labels[i] < k, "{}: row {} has label {}, which is not in [0, {})",
           where, rows.begin + i, labels[i], k);
  }
  for (std::int64_t c = 0; c < k; ++c) {
    expect(counts[c] >= before.counts[c] && counts[c] - before.counts[c] <= rows.size(),
           "{}: the count of cluster {} went from {} to {} by {} rows", where, c, before.counts[c],
           counts[c], rows.size());
  }
  expect(result.changed >= 0 && result.changed <= rows.size(), "{}: changed is {} of {} rows",
         where, result.changed, rows.size());
  expect(readable(before.inertia), "{}: the inertia is not a sum of squared distances", where);
  for (std::int64_t nth = 0; nth < result.farthest_count; ++nth) {
    const FarSample& far = result.farthest[nth];
    expect(far.row >= rows.begin && far.row < rows.end,
           "{}: far sample {} is row {}, which is not in the range", where, nth, far.row);
    expect(far.label >= 0 && far.label < k, "{}: far sample {} has label {}, not in [0, {})", where,
           nth, far.label, k);
    expect(std::isfinite(far.squared_distance) && far.squared_distance > 0,
           "{}: far sample {} is at the squared distance {}, not finite and positive", where, nth,
           far.squared_distance);
  }
}

}  // namespace

Wide wrapped_sum(Wide a, Wide b) {
  Wide result = 0;
  __builtin_add_overflow(a, b, &result);
  return result;
}

Wide wide(const SumWords& words) {
  return static_cast<Wide>(words.high) << 64 | words.low;
}

std::vector<double> Accumulated::means(const Dataset& dataset,
                                       const std::vector<double>& kept) const {
  std::vector<double> result = kept;
  for (std::size_t at = 0; at < result.size(); ++at) {
    const std::size_t feature = at % static_cast<std::size_t>(dataset.features());
    const std::int64_t count = counts[at / static_cast<std::size_t>(dataset.features())];
    if (count == 0) continue;
    const int exponent = dataset.statistics()[feature].quantum_exponent;
    const double sum = std::ldexp(static_cast<double>(wide(sums[at])), exponent);
    result[at] = sum / static_cast<double>(count);
  }
  return result;
}

void add_partial(Session& session, const std::vector<double>& centroids, RowRange rows,
                 std::int64_t wanted, std::vector<std::int32_t>& labels, Accumulated& accumulated) {
  const auto k = static_cast<std::int64_t>(accumulated.counts.size());
  const std::string where = fmt::format("partial() of rows [{}, {})", rows.begin, rows.end);
  Fenced<std::int32_t> fenced_labels(rows.size());
  std::copy(labels.begin() + rows.begin, labels.begin() + rows.end, fenced_labels.data());
  Fenced<std::int64_t> counts(k);
  std::copy(accumulated.counts.begin(), accumulated.counts.end(), counts.data());

  PartialRequest request;
  request.centroids = centroids.data();
  request.clusters = k;
  request.rows = rows;
  request.farthest_wanted = wanted;
  PartialResult result;
  FarSample poison;
  poison.row = -7;
  std::vector<FarSample> farthest(wanted + 1, poison);
  result.labels = fenced_labels.data();
  result.counts = counts.data();
  result.sums = accumulated.sums.data();
  result.inertia = &accumulated.inertia;
  result.farthest = wanted > 0 ? farthest.data() : nullptr;
  result.farthest_count = result.changed = -7;
  const Status status = session.partial(request, nullptr, result);
  expect(status.ok(), "{} failed: {}", where, status_message(status));

  const auto new_labels = fenced_labels.take("labels of partial()");
  const auto new_counts = counts.take("counts of partial()");
  expect(result.farthest_count >= 0 && result.farthest_count <= wanted,
         "{}: {} far samples reported, {} wanted", where, result.farthest_count, wanted);
  expect(farthest.back().row == poison.row, "{}: more than {} far samples were written", where,
         wanted);
  result.farthest = farthest.data();  // the plugin may have changed the pointer
  check_outputs(where, rows, result, new_labels, accumulated, new_counts);
  std::copy(new_labels.begin(), new_labels.end(), labels.begin() + rows.begin);
  accumulated.counts = new_counts;
  accumulated.changed += result.changed;
  accumulated.form = result.sum_form;
  const auto found = farthest.begin() + result.farthest_count;
  expect(std::is_sorted(farthest.begin(), found, farther),
         "{}: the far samples are not in order of distance, then row", where);
  accumulated.farthest.insert(accumulated.farthest.end(), farthest.begin(), found);
  std::sort(accumulated.farthest.begin(), accumulated.farthest.end(), farther);
  if (static_cast<std::int64_t>(accumulated.farthest.size()) > wanted) {
    accumulated.farthest.resize(wanted);
  }
}

Accumulated run_partials(Session& session, const Samples& samples,
                         const std::vector<double>& centroids,
                         const std::vector<std::int64_t>& cuts, std::int64_t wanted,
                         std::vector<std::int32_t>& labels) {
  Accumulated accumulated(static_cast<std::int64_t>(centroids.size()) / samples.d, samples.d);
  for (std::size_t part = 0; part + 1 < cuts.size(); ++part) {
    add_partial(session, centroids, {cuts[part], cuts[part + 1]}, wanted, labels, accumulated);
  }
  return accumulated;
}

void expect_same_partials(const std::string& where, std::int64_t d, const Accumulated& expected,
                          const Accumulated& got) {
  expect_same_counts(where, expected.counts, got.counts);
  for (std::size_t at = 0; at < expected.sums.size(); ++at) {
    expect(expected.sums[at].low == got.sums[at].low && expected.sums[at].high == got.sums[at].high,
           "{}: the sum of cluster {} feature {} is {:#x}:{:#x}, expected {:#x}:{:#x}", where,
           static_cast<std::int64_t>(at) / d, static_cast<std::int64_t>(at) % d, got.sums[at].high,
           got.sums[at].low, expected.sums[at].high, expected.sums[at].low);
  }
  expect_same(where, "the inertia", expected.inertia.value(), got.inertia.value());
  expect(expected.changed == got.changed, "{}: changed is {}, expected {}", where, got.changed,
         expected.changed);
  expect(expected.form == got.form, "{}: the sums have another form", where);
  expect(expected.farthest.size() == got.farthest.size(), "{}: {} far samples, expected {}", where,
         got.farthest.size(), expected.farthest.size());
  for (std::size_t at = 0; at < expected.farthest.size(); ++at) {
    const FarSample& a = expected.farthest[at];
    const FarSample& b = got.farthest[at];
    expect(
        a.row == b.row && a.label == b.label && same_bits(a.squared_distance, b.squared_distance),
        "{}: far sample {} is row {} of cluster {} at {}, expected row {} of cluster {} at {}",
        where, at, b.row, b.label, b.squared_distance, a.row, a.label, a.squared_distance);
  }
}

}  // namespace lloyd::conformance
