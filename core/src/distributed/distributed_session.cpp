#include "distributed/distributed_session.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <lloyd/internal/timed_communicator.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>
#include <lloyd/plugin/abi/session_notes.hpp>
#include <lloyd/plugin/sdk/farthest_samples.hpp>
#include <lloyd/plugin/sdk/fit_driver.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "dataset/row_range_of.hpp"
#include "distributed/local_passes.hpp"
#include "distributed/pass_message.hpp"
#include "distributed/pass_totals.hpp"
#include "session/status_error.hpp"
#include "session/sum_checks.hpp"

namespace lloyd {
namespace {

void require_same_centroids(const Ranks& ranks, const double* centroids, std::int64_t values) {
  std::vector<std::int64_t> bits(static_cast<std::size_t>(values));
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = std::bit_cast<std::int64_t>(centroids[i]);
  constexpr const char* kNames[] = {"the centroids"};
  ranks.require_same(bits, kNames);
}

}  // namespace

// Remembers that the observer of this rank requested to stop. The request goes to all ranks with
// the next message, so that none of them ends alone.
class DistributedSession::RankObserver final : public Observer {
 public:
  // `observer` may be null. `ranks` must outlive this object.
  RankObserver(Observer* observer, const Ranks& ranks) : observer_(observer), ranks_(ranks) {}

  bool on_iteration(const IterationRecord& record) noexcept override {
    if (observer_ != nullptr && !observer_->on_iteration(record)) stop_ = true;
    return true;
  }
  bool stop_requested() const noexcept override {
    ranks_.progress();
    return stop_ || (observer_ != nullptr && observer_->stop_requested());
  }
  void* query(const char* name) noexcept override {
    return observer_ == nullptr ? nullptr : observer_->query(name);
  }

 private:
  Observer* observer_;
  const Ranks& ranks_;
  std::atomic<bool> stop_{false};
};

class DistributedSession::Passes final : public HostFitPasses {
 public:
  // Not collective. All arguments must outlive the passes.
  Passes(DistributedSession& session, const FitSpec& spec, RankObserver& observer,
         FitResult& result)
      : HostFitPasses(spec, session.dataset_.features()),
        session_(session),
        observer_(observer),
        clusters_(spec.clusters),
        observe_(spec.observe),
        limbs_(
            message_limbs(session.plan_, session.dataset_.total_samples(), session.ranks_.size())),
        mean_check_(session.plan_, session.dataset_.statistics().data()),
        totals_(spec.clusters, session.dataset_.features()),
        sums_(session.plan_, spec.clusters),
        message_(spec.clusters,
                 session.plan_.is_integer() ? limbs_.count * std::ssize(totals_.sums) : 0,
                 (observe_ & kObserveInertia) != 0,
                 session.plan_.is_integer() &&
                     has_short_high_limbs(session.plan_, session.dataset_.total_samples(), limbs_)),
        closing_(spec.clusters, 0, true) {
    std::int32_t* labels = result.labels;
    const bool needs_labels = (observe_ & kObserveLabels) != 0 || !session.plan_.is_integer();
    if (labels == nullptr && needs_labels) {
      own_labels_.resize(static_cast<std::size_t>(session.dataset_.samples()));
      labels = own_labels_.data();
    }
    local_.emplace(session.local_.get(), session.dataset_, session.plan_, clusters_, limbs_,
                   labels);
  }

  void assign() override {
    const bool observes_inertia = (observe_ & kObserveInertia) != 0;
    message_.clear();
    const Status status = status_of([&] {
      if (observer_.stop_requested()) return;  // add_up() ends the pass
      ExactSum inertia;
      local_->pass(centroids(), true, &observer_, message_, observes_inertia ? &inertia : nullptr);
      if ((observe_ & kObserveLabels) != 0) local_->write_labels();
      message_.check_high_limbs();
      if (observes_inertia) message_.set_inertia(inertia);
    });
    add_up(message_, status);
    if (observes_inertia) inertia_ = message_.inertia().value();
    if (session_.plan_.is_integer()) {
      totals_.add_sums(limbs_, message_.sums());
    } else {
      sum_in_row_order(totals_.sums, totals_.counts);
    }
  }

  double inertia() override { return inertia_; }
  const std::int32_t* labels() override { return local_->labels(); }

  void close(FitResult& result) override {
    closing_.clear();
    const Status status = status_of([&] {
      if (observer_.stop_requested()) return;
      ExactSum inertia;
      local_->pass(centroids(), false, &observer_, closing_, &inertia);
      if (result.labels != nullptr) local_->write_labels();
      closing_.set_inertia(inertia);
    });
    add_up(closing_, status);
    result.inertia = closing_.inertia().value();
    const bool has_labels = result.labels != nullptr || session_.local_ == nullptr;
    result.valid = kValidInertia | (has_labels ? kValidLabels : 0u);
    if (result.counts == nullptr) return;
    std::copy(totals_.counts.begin(), totals_.counts.end(), result.counts);
    result.valid |= kValidCounts;
  }

  void report(FitResult& result) override {
    result.distances = totals_.distances;
    result.exact_fallbacks = totals_.exact_fallbacks;
  }

  std::vector<FarSample> find_farthest(std::int64_t wanted) override {
    std::vector<FarSample> mine;
    session_.ranks_.together([&] {
      mine = local_->find_farthest(wanted, &observer_);
      for (FarSample& sample : mine) sample.row += session_.dataset_.first_row();
      mine.resize(static_cast<std::size_t>(wanted));  // those at distance 0 do not count
    });
    FarthestSamples farthest(wanted);
    for (const FarSample& sample : session_.ranks_.gather(std::span<const FarSample>(mine))) {
      farthest.add(sample);
    }
    return farthest.sorted();
  }

  void move_sample(const Relocation& relocation, ClusterSums& sums) override {
    const FarSample& sample = relocation.sample;
    const std::vector<std::int64_t>& first_rows = session_.first_rows_;
    const auto next = std::upper_bound(first_rows.begin(), first_rows.end(), sample.row);
    const int owner = static_cast<int>(next - first_rows.begin()) - 1;
    const auto features = static_cast<std::size_t>(session_.dataset_.features());
    std::vector<double> values(features + 1);  // the last one is 0 if the sample cannot be read
    Status status;
    if (owner == session_.ranks_.rank()) {
      status = status_of([&] {
        const std::int64_t row = sample.row - session_.dataset_.first_row();
        session_.read_rows({row, row + 1}, [&](RowRange, const void* data) {
          Matrix block = session_.dataset_.matrix();
          block.data = data;
          for (std::size_t j = 0; j < features; ++j) {
            values[j] = block.at(0, static_cast<std::int64_t>(j));
          }
        });
        values.back() = 1;
      });
    }
    session_.ranks_.broadcast(std::span(values), owner);
    if (values.back() == 0) session_.ranks_.agree(status);
    sums.move(values.data(), sample.label, relocation.to);
  }

  void recompute_sums(const std::vector<Relocation>& relocations, ClusterSums& sums) override {
    std::vector<Relocation> own;
    for (Relocation relocation : relocations) {
      relocation.sample.row -= session_.dataset_.first_row();
      if (relocation.sample.row < 0 || relocation.sample.row >= session_.dataset_.samples())
        continue;
      own.push_back(relocation);
    }
    std::vector<SumWords> words(totals_.sums.size());
    std::vector<std::int64_t> counts(totals_.counts.size());
    with_relocated_labels(own, local_->labels(), [&] { sum_in_row_order(words, counts); });
    sums.load(words.data(), counts.data());
  }

 protected:
  ClusterSums& sum_labels() override {
    check([&] { mean_check_.check_before_relocation(totals_.sums, totals_.counts); });
    sums_.load(totals_.sums.data(), totals_.counts.data());
    return sums_;
  }
  void check_new_centroids() override {
    check([&] { mean_check_.check_means(centroids(), totals_.sums, totals_.counts); });
  }
  std::int64_t changed() const override { return totals_.changed; }
  [[noreturn]] void fail(const Status& status) override { throw AgreedError(status); }

 private:
  // Adds up a message of all ranks and takes its numbers and counts.
  void add_up(PassMessage& message, const Status& status) {
    message.add_up(session_.ranks_, status, observer_.stop_requested());
    const std::string fault = totals_.add(message, session_.dataset_.total_samples());
    if (!fault.empty()) throw AgreedError(StatusCode::internal, fault);
  }

  // Runs a check of the totals. All ranks have the same ones, so that all throw or none.
  template <class Check>
  static void check(const Check& body) {
    const Status checked = status_of(body);
    if (!checked.ok()) throw AgreedError(checked);
  }

  // Compensated sums and counts by the current labels: each rank in turn adds its rows to those of
  // the ranks before it.
  void sum_in_row_order(std::vector<SumWords>& words, std::vector<std::int64_t>& counts) {
    const Ranks& ranks = session_.ranks_;
    std::fill(words.begin(), words.end(), SumWords{});
    std::fill(counts.begin(), counts.end(), 0);
    Status status;
    for (int rank = 0; rank < ranks.size(); ++rank) {
      if (rank == ranks.rank() && session_.local_ != nullptr) {
        sums_.load(words.data(), counts.data());
        status = status_of([&] { add_rows(); });
        sums_.store(words.data(), counts.data());
      }
      ranks.broadcast(std::span(words), rank);
      ranks.broadcast(std::span(counts), rank);
    }
    ranks.agree(status);
  }

  // Adds the rows of this rank to the sums.
  void add_rows() {
    const Matrix& matrix = session_.dataset_.matrix();
    const std::int32_t* const labels = local_->labels();
    session_.read_rows({0, matrix.rows}, [&](RowRange rows, const void* data) {
      if (matrix.dtype == DType::float32) {
        sums_.add(static_cast<const float*>(data), matrix.stride, rows.size(), labels + rows.begin);
      } else {
        sums_.add(static_cast<const double*>(data), matrix.stride, rows.size(),
                  labels + rows.begin);
      }
      session_.ranks_.progress();
    });
  }

  DistributedSession& session_;
  RankObserver& observer_;
  std::int64_t clusters_;
  std::uint32_t observe_;
  SumLimbs limbs_;
  MeanCheck mean_check_;
  PassTotals totals_;  // of all ranks
  ClusterSums sums_;   // a copy of its sums and counts, in which samples are relocated
  PassMessage message_, closing_;
  std::vector<std::int32_t> own_labels_;
  std::optional<LocalPasses> local_;
  double inertia_ = 0;
};

DistributedSession::DistributedSession(const Dataset& dataset, Session* local,
                                       ReadBlocks read_blocks)
    : dataset_(dataset),
      local_(local),
      ranks_(dataset.communicator()),
      first_rows_(ranks_.gather(dataset.first_row())),
      plan_(SumPlan::make(dataset.view())),
      read_blocks_(std::move(read_blocks)) {
  first_rows_.push_back(dataset.total_samples());
}

template <class Body>
Status DistributedSession::run(const Body& body) noexcept {
  const FloatEnvironment environment;
  bool agreed = false;
  const Status status = status_of([&] {
    try {
      body();
    } catch (const AgreedError&) {
      agreed = true;
      throw;
    }
  });
  // All ranks alike find an empty cluster.
  if (status.ok() || agreed || status.code == StatusCode::empty_cluster) return status;
  ranks_.abort(status.message);
  return status;
}

void DistributedSession::read_rows(RowRange rows, const BlockBody& body) const {
  if (read_blocks_) return read_blocks_(rows, body);
  body(rows, row_range_of(dataset_.matrix(), rows.begin, rows.end).data);
}

void DistributedSession::check_same_request(const FitSpec& spec) const {
  constexpr const char* kNames[] = {"clusters",       "max_iterations", "tolerance", "stop_rule",
                                    "empty_clusters", "observe",        "profile"};
  const std::int64_t values[] = {spec.clusters,
                                 spec.max_iterations,
                                 std::bit_cast<std::int64_t>(spec.tolerance),
                                 static_cast<std::int64_t>(spec.stop_rule),
                                 static_cast<std::int64_t>(spec.empty_clusters),
                                 spec.observe,
                                 spec.profile};
  ranks_.require_same(values, kNames);
  require_same_centroids(ranks_, spec.initial_centroids, spec.clusters * dataset_.features());
}

Status DistributedSession::fit(const FitSpec& spec, Observer* observer,
                               FitResult& result) noexcept {
  const TimedCommunicator::FitTimer timer(dataset_.communicator().get());
  return run([&] {
    check_same_request(spec);
    result.sum_form = plan_.form;
    RankObserver rank_observer(observer, ranks_);
    std::optional<Passes> passes;
    ranks_.together([&] { passes.emplace(*this, spec, rank_observer, result); });
    drive_fit(spec, &rank_observer, *passes, result);
  });
}

Status DistributedSession::label(const LabelRequest& request, Observer* observer,
                                 LabelResult& result) noexcept {
  return run([&] {
    constexpr const char* kNames[] = {"clusters"};
    ranks_.require_same(std::span(&request.clusters, 1), kNames);
    require_same_centroids(ranks_, request.centroids, request.clusters * dataset_.features());
    result.valid = 0;
    RankObserver rank_observer(observer, ranks_);
    PassMessage message(request.clusters, 0, true);
    const Status status = status_of([&] {
      if (local_ == nullptr) return;
      ExactSum inertia;
      if (result.squared_distances != nullptr) {
        LabelResult part;
        part.labels = result.labels;
        part.counts = message.counts();
        part.squared_distances = result.squared_distances;
        throw_if_error(local_->label(request, &rank_observer, part));
        for (std::int64_t i = 0; i < dataset_.samples(); ++i) {
          inertia.add(result.squared_distances[i]);
        }
      } else {
        PartialRequest all;
        all.required_capabilities = request.required_capabilities;
        all.centroids = request.centroids;
        all.clusters = request.clusters;
        all.rows = {0, dataset_.samples()};
        PartialResult part;
        part.labels = result.labels;
        if (part.labels != nullptr) std::fill_n(part.labels, dataset_.samples(), -1);
        part.counts = message.counts();
        part.inertia = &inertia;
        throw_if_error(local_->partial(all, &rank_observer, part));
      }
      message.set_inertia(inertia);
    });
    message.add_up(ranks_, status, rank_observer.stop_requested());
    if (result.counts != nullptr) std::copy_n(message.counts(), request.clusters, result.counts);
    result.inertia = message.inertia().value();
    const bool has_labels = result.labels != nullptr || local_ == nullptr;
    result.valid = kValidInertia | (has_labels ? kValidLabels : 0u) |
                   (result.counts != nullptr ? kValidCounts : 0u);
  });
}

Status DistributedSession::partial(const PartialRequest&, Observer*, PartialResult&) noexcept {
  return Status::error(StatusCode::unsupported, "a session of several ranks has no partial passes");
}

void* DistributedSession::query(const char* interface_name) noexcept {
  const std::string_view name = interface_name;
  if (local_ == nullptr || (name != kSeedingKernels && name != kSessionNotes)) return nullptr;
  return local_->query(interface_name);
}

}  // namespace lloyd
