#include "distributed/local_passes.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "session/handed_values.hpp"
#include "session/partial_check.hpp"
#include "session/status_error.hpp"

namespace lloyd {

LocalPasses::LocalPasses(Session* session, const Dataset& dataset, const SumPlan& plan,
                         std::int64_t clusters, const SumLimbs& limbs, std::int32_t* labels)
    : session_(session),
      dataset_(dataset),
      plan_(plan),
      clusters_(clusters),
      limbs_(limbs),
      labels_(labels) {
  if (session_ == nullptr) return;
  if (plan_.is_integer()) kernels_ = static_cast<PassKernels*>(session_->query(kPassKernels));
  if (kernels_ != nullptr) {
    PassOptions options;
    options.clusters = clusters_;
    options.limbs = limbs_;
    throw_if_error(kernels_->begin(options));
    return;
  }
  const auto n = static_cast<std::size_t>(dataset_.samples());
  const auto k = static_cast<std::size_t>(clusters_);
  if (labels_ == nullptr) own_labels_.resize(n);
  if (labels_ == nullptr) labels_ = own_labels_.data();
  std::fill_n(labels_, n, -1);
  counts_.resize(k);
  if (plan_.is_integer()) words_.resize(k * static_cast<std::size_t>(plan_.features));
  changes_.emplace(plan_, clusters_);
}

LocalPasses::~LocalPasses() {
  if (kernels_ != nullptr) kernels_->end();
}

void LocalPasses::pass(std::span<const double> centroids, bool with_sums, Observer* observer,
                       PassMessage& message, ExactSum* inertia) {
  if (session_ == nullptr) return;
  centroids_.assign(centroids.begin(), centroids.end());
  if (kernels_ != nullptr) {
    pass_by_kernels(with_sums, observer, message, inertia);
  } else {
    pass_by_partial(with_sums && plan_.is_integer(), observer, message, inertia);
  }
  if (std::memcmp(centroids_.data(), centroids.data(), centroids.size_bytes()) != 0) {
    throw StatusError(StatusCode::internal, changed_input_text("centroids"));
  }
}

void LocalPasses::pass_by_kernels(bool with_sums, Observer* observer, PassMessage& message,
                                  ExactSum* inertia) {
  PassRequest request;
  request.centroids = centroids_.data();
  request.sums = with_sums ? message.sums() : nullptr;
  request.counts = message.counts();
  request.inertia = inertia;
  PassResult result;
  throw_if_error(kernels_->pass(request, observer, result));
  if (result.changed < 0 || result.changed > dataset_.samples()) {
    throw StatusError(StatusCode::internal, fmt::format("a pass reports {} changed labels of {}",
                                                        result.changed, dataset_.samples()));
  }
  if (!has_labels_ && result.changed != dataset_.samples()) {
    throw StatusError(StatusCode::internal,
                      fmt::format("the first pass reports {} changed labels, where all {} are new",
                                  result.changed, dataset_.samples()));
  }
  has_labels_ = true;
  message[PassMessage::changed] = result.changed;
  message[PassMessage::distances] = result.distances;
  if (result.exact_fallbacks < 0) return;
  message[PassMessage::exact_fallbacks] = result.exact_fallbacks;
  message[PassMessage::screening_ranks] = 1;
}

void LocalPasses::pass_by_partial(bool with_sums, Observer* observer, PassMessage& message,
                                  ExactSum* inertia) {
  std::fill(words_.begin(), words_.end(), SumWords{});
  std::fill(counts_.begin(), counts_.end(), 0);
  PartialRequest request;
  request.centroids = centroids_.data();
  request.clusters = clusters_;
  request.rows = {0, dataset_.samples()};
  PartialResult result;
  result.labels = labels_;
  result.sums = with_sums ? words_.data() : nullptr;
  result.counts = counts_.data();
  result.inertia = inertia;
  const PartialCheck check(request, result);
  throw_if_error(session_->partial(request, observer, result));
  check.check(result);
  if (with_sums && result.sum_form != plan_.form) {
    throw StatusError(StatusCode::internal, "a partial pass returned sums of another form");
  }
  message[PassMessage::changed] = result.changed;
  message[PassMessage::distances] = dataset_.samples() * clusters_;
  changes_->add_counts(counts_, message.counts());
  if (with_sums) changes_->add_sums(words_, limbs_, message.sums());
}

std::vector<FarSample> LocalPasses::find_farthest(std::int64_t wanted, Observer* observer) {
  if (session_ == nullptr) return {};
  std::vector<FarSample> farthest(static_cast<std::size_t>(wanted));
  std::int64_t count = 0;
  if (kernels_ != nullptr) {
    throw_if_error(kernels_->farthest(wanted, observer, farthest.data(), &count));
  } else {
    PartialRequest request;
    request.centroids = centroids_.data();
    request.clusters = clusters_;
    request.rows = {0, dataset_.samples()};
    request.farthest_wanted = wanted;
    PartialResult result;
    result.labels = labels_;  // the same once more
    result.farthest = farthest.data();
    throw_if_error(session_->partial(request, observer, result));
    count = result.farthest_count;
  }
  if (count < 0 || count > wanted) {
    throw StatusError(
        StatusCode::internal,
        fmt::format("a pass reports {} far samples, where 0 to {} are possible", count, wanted));
  }
  farthest.resize(static_cast<std::size_t>(count));
  for (const FarSample& sample : farthest) {
    if (sample.row >= 0 && sample.row < dataset_.samples() && sample.label >= 0 &&
        sample.label < clusters_) {
      continue;
    }
    throw StatusError(StatusCode::internal,
                      fmt::format("a far sample has row {} of {} and label {} of {}", sample.row,
                                  dataset_.samples(), sample.label, clusters_));
  }
  return farthest;
}

void LocalPasses::write_labels() {
  if (kernels_ != nullptr && labels_ != nullptr) throw_if_error(kernels_->labels(labels_));
}

}  // namespace lloyd
