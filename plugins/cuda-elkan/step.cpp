#include "step.hpp"

#include <algorithm>

#include "cuda/loop/loop.hpp"
#include "cuda/memory/memory_limit.hpp"
#include "cuda/memory/problem_shape.hpp"
#include "cuda/rows/device_rows.hpp"

namespace lloyd_cuda_elkan {

using lloyd::RowRange;
using lloyd::StatusCode;
using lloyd_cuda::Pass;
using lloyd_cuda::Samples;

namespace {

PlanShape plan_shape(const lloyd::ProblemShape& shape) {
  return {shape.samples, shape.features, shape.clusters, lloyd::size_of(shape.dtype)};
}

double loop_bytes(const lloyd::ProblemShape& shape) {
  const lloyd::MemoryEstimate memory = shape.dtype == lloyd::DType::float32
                                           ? lloyd_cuda::DeviceLoop<float>::estimate(shape)
                                           : lloyd_cuda::DeviceLoop<double>::estimate(shape);
  return static_cast<double>(memory.device_bytes);
}

std::string mebibytes(double bytes) {
  return std::to_string(static_cast<std::int64_t>(bytes / (1 << 20)) + 1) + " MiB";
}

}  // namespace

Plan plan_for(const lloyd::ProblemShape& shape, std::int64_t limit_mebibytes,
              std::int64_t card_bytes) {
  return choose_plan(plan_shape(shape), lloyd_cuda::limit_bytes(limit_mebibytes, card_bytes),
                     loop_bytes(shape));
}

lloyd::Status refusal(const lloyd::ProblemShape& shape, const Plan& plan,
                      std::int64_t limit_mebibytes, std::int64_t card_bytes) {
  const double limit = lloyd_cuda::limit_bytes(limit_mebibytes, card_bytes);
  return lloyd::Status::error(
      StatusCode::unsupported,
      std::to_string(shape.samples) + " samples of " + std::to_string(shape.features) +
          " features and " + std::to_string(shape.clusters) + " clusters take " +
          mebibytes(plan.device_bytes + loop_bytes(shape)) +
          " of device memory at least, with samples in batches; " +
          (limit_mebibytes > 0 ? "memory_limit and the card allow " : "the card allows ") +
          std::to_string(static_cast<std::int64_t>(limit / (1 << 20))) + " MiB");
}

template <class T>
ElkanStep<T>::ElkanStep(const lloyd::DatasetView& dataset, std::int64_t limit_mebibytes,
                        int block_size, const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream)
    : dataset_(dataset),
      limit_mebibytes_(limit_mebibytes),
      card_bytes_(lloyd_cuda::bytes_beside_rows(dataset, limits.total_bytes)),
      grid_{block_size, limits.multiprocessors, limits.shared_bytes_per_block},
      stream_(stream),
      plan_(plan(1)) {
  // The number of clusters is not known yet. For one cluster, the most samples fit.
  hold_samples();
}

// Samples of the caller in device memory are read in place, even if the plan has parts.
template <class T>
bool ElkanStep<T>::keeps_all_rows() const {
  return plan_.resident || lloyd_cuda::is_on_device(dataset_);
}

template <class T>
Plan ElkanStep<T>::plan(std::int64_t clusters) const {
  const lloyd::ProblemShape shape = lloyd_cuda::shape_of(dataset_, clusters);
  PlanShape sizes = plan_shape(shape);
  if (lloyd_cuda::is_on_device(dataset_)) sizes.value_bytes = 0;
  const Plan plan =
      choose_plan(sizes, lloyd_cuda::limit_bytes(limit_mebibytes_, card_bytes_), loop_bytes(shape));
  if (!plan.feasible) {
    throw lloyd::StatusError(refusal(shape, plan, limit_mebibytes_, card_bytes_));
  }
  return plan;
}

// Places the samples where the plan wants them.
template <class T>
void ElkanStep<T>::hold_samples() {
  if (keeps_all_rows()) {
    batches_.reset();
    if (resident_ == nullptr) {
      resident_ = std::make_unique<lloyd_cuda::ResidentSamples<T>>(
          dataset_, lloyd_cuda::Layout::aos, stream_);
    }
  } else {
    resident_.reset();
    if (batches_ == nullptr || batch_rows_ != plan_.part_rows) {
      batches_.reset();
      batches_ = std::make_unique<lloyd_cuda::RowStream<T>>(dataset_, 0, plan_.part_rows);
      batch_rows_ = plan_.part_rows;
    }
  }
}

template <class T>
void ElkanStep<T>::prepare(std::int64_t clusters, const CancelRequested& cancel_requested) {
  cancel_requested_ = &cancel_requested;
  has_bounds_ = has_totals_ = false;
  if (clusters != clusters_) {
    clusters_ = 0;  // if an allocation below fails, nothing is prepared
    state_ = State();
    plan_ = plan(clusters);
    hold_samples();
    clusters_ = clusters;
  }
  work_.fill_bytes(0, stream_);
}

template <class T>
bool ElkanStep<T>::takes_bounds(const Pass& pass) const {
  if (pass.former_centroids == nullptr || pass.rows.size() != dataset_.samples) return false;
  // No pass follows the closing pass. (If the host computes the sums, no pass has totals.)
  const bool closing = !pass.accumulates() && pass.scale.scales != nullptr;
  return has_bounds_ || !closing;
}

// Passes that the loop enqueued beyond the end of a fit, or beyond an iteration that the host must
// finish, do nothing and are enqueued again. So the host must not remember what one pass leaves for
// the next: the device knows whether there are bounds, and full sums are computed only in passes
// before which the loop has synchronized.
template <class T>
void ElkanStep<T>::assign(const Pass& pass) {
  const bool with_bounds = takes_bounds(pass);
  const bool by_difference = with_bounds && pass.accumulates() && has_totals_;
  if (with_bounds && !has_bounds_) take_bounds();
  if (pass.accumulates() && !by_difference) take_totals();
  if (with_bounds) {
    enqueue_moves(pass, dataset_.features, bounds(), moves(), work_.data(), grid_);
  }
  const Body body = [&](RowRange rows, const Samples<T>& samples) {
    Part<T> part;
    part.pass = pass;
    part.pass.rows = rows;
    part.samples = samples;
    part.work = work_.data();
    if (pass.phases != nullptr) pass.phases->begin(lloyd_cuda::Phase::assignment, pass.stream);
    if (with_bounds) {
      part.bounds = bounds();
      part.moves = moves();
      part.lists.listed = state_.listed.data();
      part.lists.own_distance = state_.own_distances.data();
      if (by_difference) {
        part.lists.changed = state_.changed.data();
        part.lists.former_label = state_.former_labels.data();
      }
      enqueue_begin(part.pass, part.work);
      enqueue_screen(part, grid_);
      enqueue_scan(part, grid_);
    }
    enqueue_assign_all(part, with_bounds, grid_);
    if (!pass.accumulates()) return;
    if (pass.phases != nullptr) pass.phases->begin(lloyd_cuda::Phase::update, pass.stream);
    if (by_difference) {
      enqueue_changed_sums(part, totals(), grid_);
    } else {
      enqueue_sums(part, totals(), grid_);
    }
  };
  if (keeps_all_rows()) {
    for (std::int64_t begin = pass.rows.begin; begin < pass.rows.end; begin += plan_.part_rows) {
      body({begin, std::min(begin + plan_.part_rows, pass.rows.end)}, resident_->get());
    }
  } else {
    batches_->walk(pass.rows, pass.halt, *cancel_requested_, pass.stream, body);
  }
  if (pass.accumulates()) enqueue_publication(pass, dataset_.features, totals());
  has_totals_ = pass.accumulates();
}

// Allocates the bounds and resets all drifts.
template <class T>
void ElkanStep<T>::take_bounds() {
  const std::int64_t n = dataset_.samples;
  const std::int64_t groups = plan_.groups;
  state_.upper.resize(n);
  state_.lower.resize(n);
  if (groups > 1) state_.group_bounds.resize(n * groups);
  state_.separations.resize(clusters_ * (plan_.separations ? 1 + groups : 1));
  state_.drift_totals.resize(clusters_ + groups + 1);
  state_.drifts.resize(clusters_ + groups + 1);
  state_.group_moves.resize(groups + 1);
  state_.listed.resize(plan_.part_rows);
  state_.own_distances.resize(plan_.part_rows);
  state_.changed.resize(plan_.part_rows);
  state_.former_labels.resize(plan_.part_rows);
  state_.drift_totals.fill_bytes(0, stream_);
  state_.drifts.fill_bytes(0, stream_);
  state_.group_moves.fill_bytes(0, stream_);
  has_bounds_ = true;
}

template <class T>
void ElkanStep<T>::take_totals() {
  state_.sums.resize(clusters_ * dataset_.features);
  state_.counts.resize(clusters_);
  state_.sums.fill_bytes(0, stream_);
  state_.counts.fill_bytes(0, stream_);
}

template <class T>
SampleBounds ElkanStep<T>::bounds() const {
  SampleBounds bounds;
  bounds.upper = state_.upper.data();
  bounds.lower = state_.lower.data();
  bounds.groups = state_.group_bounds.data();
  bounds.group_size = plan_.group_size;
  bounds.count = plan_.groups;
  return bounds;
}

template <class T>
CentroidMoves ElkanStep<T>::moves() const {
  CentroidMoves moves;
  moves.total = state_.drift_totals.data();
  moves.group_total = moves.total + clusters_;
  moves.total_of_all = moves.group_total + plan_.groups;
  moves.drift = state_.drifts.data();
  moves.group_drift = moves.drift + clusters_;
  moves.drift_of_all = moves.group_drift + plan_.groups;
  moves.group_move = state_.group_moves.data();
  moves.nearest_other = state_.separations.data();
  moves.separation = plan_.separations ? moves.nearest_other + clusters_ : nullptr;
  return moves;
}

template <class T>
std::int64_t ElkanStep<T>::distances() {
  Work work;
  work_.download(&work, 1, stream_);
  lloyd_cuda::check(cudaStreamSynchronize(stream_), "counting distances");
  return static_cast<std::int64_t>(work.distances);
}

template <class T>
void ElkanStep<T>::for_each_part(RowRange rows, const std::int32_t* skip, const Body& body) {
  // A seeding may follow a fit for whose clusters the samples could not be held.
  if (resident_ == nullptr && batches_ == nullptr) {
    throw lloyd::StatusError(StatusCode::out_of_memory,
                             "the samples are not on the device, which ran out of memory before");
  }
  if (keeps_all_rows()) {
    body(rows, resident_->get());
  } else {
    batches_->walk(rows, skip, *cancel_requested_, stream_, body);
  }
}

template <class T>
std::string ElkanStep<T>::notes() const {
  return std::to_string(plan_.groups) + (plan_.groups == 1 ? " bound" : " bounds") + " a sample, " +
         (keeps_all_rows() ? "samples resident"
                           : "samples in batches of " + std::to_string(plan_.part_rows));
}

template class ElkanStep<float>;
template class ElkanStep<double>;

}  // namespace lloyd_cuda_elkan
