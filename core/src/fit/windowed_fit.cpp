#include "fit/windowed_fit.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include <lloyd/plugin/sdk/label_change_sums.hpp>

#include "fit/elapsed.hpp"
#include "fit/row_sums.hpp"

namespace lloyd {
namespace {

std::int32_t* array_for_labels(std::int32_t* wanted, std::vector<std::int32_t>& own,
                               std::int64_t samples) {
  if (wanted != nullptr) return wanted;
  own.resize(static_cast<std::size_t>(samples));
  return own.data();
}

}  // namespace

WindowedFit::WindowedFit(Session& session, StreamedPasses& kernels, const Dataset& dataset,
                         const SumPlan& plan, const FitSpec& spec, Observer* observer,
                         FitResult& result)
    : HostFitPasses(spec, dataset.features()),
      kernels_(kernels),
      dataset_(dataset),
      plan_(plan),
      spec_(spec),
      observer_(observer),
      labels_(array_for_labels(result.labels, own_labels_, dataset.samples())),
      limbs_(message_limbs(plan, dataset.samples(), 1)),
      mean_check_(plan, dataset.statistics().data()),
      totals_(spec.clusters, dataset.features()),
      sums_(plan, spec.clusters),
      message_(spec.clusters, limbs_.count * spec.clusters * dataset.features(), false),
      local_(&session, dataset, plan, spec.clusters, limbs_, labels_) {}

void WindowedFit::run_pass(bool with_sums, PassMessage& message, ExactSum* inertia) {
  message.clear();
  if (observer_ != nullptr && observer_->stop_requested()) throw_cancelled();
  local_.pass(centroids(), with_sums, observer_, message, inertia);
  const std::string fault = totals_.add(message, dataset_.samples());
  if (!fault.empty()) throw StatusError(StatusCode::internal, fault);
}

void WindowedFit::assign() {
  inertia_ = {};
  const std::uint32_t observe = observer_ != nullptr ? spec_.observe : 0;
  run_pass(true, message_, (observe & kObserveInertia) != 0 ? &inertia_ : nullptr);
  totals_.add_sums(limbs_, message_.sums());
  if ((observe & kObserveLabels) != 0) local_.write_labels();
}

ClusterSums& WindowedFit::sum_labels() {
  mean_check_.check_before_relocation(totals_.sums, totals_.counts);
  sums_.load(totals_.sums.data(), totals_.counts.data());
  return sums_;
}

void WindowedFit::check_new_centroids() {
  mean_check_.check_means(centroids(), totals_.sums, totals_.counts);
}

void WindowedFit::close(FitResult& result) {
  local_.write_labels();
  if (!are_valid_labels(labels_, dataset_.samples(), spec_.clusters)) {
    throw StatusError(StatusCode::internal, "a pass returned a label that is no cluster");
  }
  ClusterSums expected(plan_, spec_.clusters);
  kernels_.visit_next_pass([&](RowRange rows, const void* data) {
    const auto checking = std::chrono::steady_clock::now();
    add_rows(dataset_, rows, data, labels_, expected);
    check_ms_ += milliseconds_since(checking);
  });
  PassMessage closing(spec_.clusters, 0, false);
  ExactSum inertia;
  run_pass(false, closing, &inertia);
  const auto checking = std::chrono::steady_clock::now();
  check_sums(plan_, dataset_.statistics().data(), totals_.sums, expected);
  check_ms_ += milliseconds_since(checking);
  result.inertia = inertia.value();
  result.valid = kValidInertia;
  if (result.labels != nullptr) {
    local_.write_labels();
    result.valid |= kValidLabels;
  }
  if (result.counts == nullptr) return;
  std::copy(totals_.counts.begin(), totals_.counts.end(), result.counts);
  result.valid |= kValidCounts;
}

void WindowedFit::report(FitResult& result) {
  result.distances = totals_.distances;
  result.exact_fallbacks = totals_.exact_fallbacks;
  result.closing_ms -= check_ms_;
}

std::vector<FarSample> WindowedFit::find_farthest(std::int64_t wanted) {
  return local_.find_farthest(wanted, observer_);
}

void WindowedFit::move_sample(const Relocation& relocation, ClusterSums& sums) {
  const FarSample& sample = relocation.sample;
  sums.move(dataset_.sample(sample.row).data(), sample.label, relocation.to);
}

void WindowedFit::recompute_sums(const std::vector<Relocation>&, ClusterSums&) {
  throw StatusError(StatusCode::internal, "passes in windows have integer sums");
}

}  // namespace lloyd
