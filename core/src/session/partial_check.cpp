#include "session/partial_check.hpp"

#include <algorithm>
#include <cmath>

#include <lloyd/internal/format_count.hpp>

#include "session/partial_fault.hpp"

namespace lloyd {

PartialCheck::PartialCheck(const PartialRequest& request, const PartialResult& given)
    : request_(request), labels_(given.labels), counts_(given.counts) {
  if (labels_ != nullptr) former_labels_.assign(labels_, labels_ + request.rows.size());
  if (counts_ != nullptr) former_counts_.assign(counts_, counts_ + request.clusters);
}

void PartialCheck::check(const PartialResult& returned) const {
  const std::int64_t rows = request_.rows.size();
  if (returned.changed < 0 || returned.changed > rows) {
    throw_partial_fault("it reports {} changed labels, where 0 to {} are possible",
                        returned.changed, rows);
  }
  if (labels_ != nullptr) check_labels(returned);
  if (returned.farthest_count < 0 || returned.farthest_count > request_.farthest_wanted) {
    throw_partial_fault("it reports {} far samples, where 0 to {} are possible",
                        returned.farthest_count, request_.farthest_wanted);
  }
  check_farthest(returned);
}

void PartialCheck::check_labels(const PartialResult& returned) const {
  const std::int64_t k = request_.clusters;
  std::vector<std::int64_t> found(static_cast<std::size_t>(k));
  std::int64_t changed = 0;
  for (std::size_t i = 0; i < former_labels_.size(); ++i) {
    const std::int32_t label = labels_[i];
    if (label < 0 || label >= k)
      throw_partial_fault("the label of sample {} is {}, with {}", i, label,
                          format_count(k, "cluster"));
    ++found[static_cast<std::size_t>(label)];
    changed += label != former_labels_[i];
  }
  if (returned.changed != changed) {
    throw_partial_fault("it reports {} changed labels, but {} differ", returned.changed, changed);
  }
  for (std::size_t c = 0; c < former_counts_.size(); ++c) {
    std::int64_t count = 0;
    if (!__builtin_sub_overflow(counts_[c], former_counts_[c], &count) && count == found[c])
      continue;
    throw_partial_fault("the count of cluster {} is {}, but {} samples have its label", c, count,
                        found[c]);
  }
}

void PartialCheck::check_farthest(const PartialResult& returned) const {
  for (std::int64_t i = 0; i < returned.farthest_count; ++i) {
    const FarSample& sample = returned.farthest[i];
    if (sample.row < 0 || sample.row >= request_.rows.size() || sample.label < 0 ||
        sample.label >= request_.clusters) {
      throw_partial_fault("a far sample has row {} of {} and label {} of {}", sample.row,
                          request_.rows.size(), sample.label, request_.clusters);
    }
    if (!(sample.squared_distance > 0) || !std::isfinite(sample.squared_distance)) {
      throw_partial_fault("the far sample {} has a squared distance of {}", sample.row,
                          sample.squared_distance);
    }
    if (labels_ != nullptr && labels_[sample.row] != sample.label) {
      throw_partial_fault("the far sample {} has label {}, but its label is {}", sample.row,
                          sample.label, labels_[sample.row]);
    }
    if (i == 0) continue;
    const FarSample& before = returned.farthest[i - 1];
    const bool sorted =
        before.squared_distance > sample.squared_distance ||
        (before.squared_distance == sample.squared_distance && before.row < sample.row);
    if (!sorted) throw_partial_fault("its far samples are not by descending distance, then row");
  }
}

}  // namespace lloyd
