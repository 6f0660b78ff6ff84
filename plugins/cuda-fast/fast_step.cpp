#include "fast_step.hpp"

#include <algorithm>

#include "cuda-fast/screens/self_test.hpp"
#include "cuda/device/check.hpp"
#include "cuda/fused/iterations_layout.hpp"
#include "cuda/loop/loop.hpp"
#include "cuda/memory/memory_limit.hpp"
#include "cuda/memory/problem_shape.hpp"
#include "cuda/rows/device_rows.hpp"

namespace lloyd_cuda_fast {

using lloyd_cuda::Pass;
using lloyd_cuda::Samples;

namespace {

// In bytes, for loads of four values, or of two by the fused kernel.
template <class T>
std::int64_t row_alignment(std::int64_t features) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  if (features % 4 == 0) return 16;
  return features == 2 && kBytes == 4 ? 8 : kBytes;
}

}  // namespace

ScreenPath path_for(std::int64_t choice, std::int64_t features, int device) {
  if (!may_use_tensor_cores(choice, features)) return ScreenPath::direct;
  int major = 0;
  int minor = 0;
  lloyd_cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                    "reading the compute capability");
  lloyd_cuda::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
                    "reading the compute capability");
#ifdef LLOYD_HAS_WGMMA
  const bool has_wgmma = major == 9 && minor == 0;
#else
  const bool has_wgmma = false;
#endif
  const bool has_mma = major >= 8;
  if ((choice == kWgmmaPath && !has_wgmma) || (choice == kMmaPath && !has_mma)) {
    throw lloyd::StatusError(lloyd::StatusCode::unsupported,
                             "device " + std::to_string(device) + " has compute capability " +
                                 std::to_string(major) + "." + std::to_string(minor) +
                                 ", but path=" +
                                 (choice == kWgmmaPath ? "wgmma needs 9.0, and a build for sm_90"
                                                       : "mma needs 8.0 or higher"));
  }
  if (!has_mma) return ScreenPath::direct;
  return choice == kMmaPath || !has_wgmma ? ScreenPath::mma : ScreenPath::wgmma;
}

template <class T>
FastStep<T>::FastStep(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters,
                      const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream)
    : dataset_(dataset),
      device_{limits, {}},
      path_is_auto_(parameters.choice("path") == kAutoPath),
      path_(path_for(parameters.choice("path"), dataset.features, limits.device)),
      limit_mebibytes_(parameters.integer("memory_limit")),
      card_bytes_(lloyd_cuda::bytes_beside_rows(dataset, limits.total_bytes)),
      stream_(stream),
      store_(dataset, lloyd_cuda::Layout::aos, row_alignment<T>(dataset.features)),
      units_(dataset),
      fused_units_(fused_units(units_.on_host())) {
  if (path_ != ScreenPath::direct && !passes_self_test(path_, limits, stream)) {
    path_ = ScreenPath::direct;
    failed_self_test_ = true;
  }
  hold_samples(1);  // the number of clusters is not known yet
}

template <class T>
void FastStep<T>::prepare(std::int64_t clusters, const CancelRequested& cancel_requested) {
  cancel_requested_ = &cancel_requested;
  if (clusters != clusters_) {
    clusters_ = 0;  // if an allocation below fails, nothing is prepared
    workspace_.reset();
    hold_samples(clusters);
    grid_memory_.resize(plan_.grid_words);
    if (!plan_.fused) allocate_workspace(clusters);
    clusters_ = clusters;
  }
  fallbacks_.fill_bytes(0, stream_);
}

// Plans for k clusters, and holds the samples and their fragments accordingly.
template <class T>
void FastStep<T>::hold_samples(std::int64_t clusters) {
  const lloyd::ProblemShape shape = lloyd_cuda::shape_of(dataset_, clusters);
  const double loop = static_cast<double>(lloyd_cuda::DeviceLoop<T>::estimate(shape).device_bytes);
  const double available = lloyd_cuda::limit_bytes(limit_mebibytes_, card_bytes_) - loop;
  FastProblem problem;
  problem.samples = dataset_.samples;
  problem.features = dataset_.features;
  problem.clusters = clusters;
  problem.row_bytes = store_.row_bytes();
  problem.uses_tensor_cores = path_ != ScreenPath::direct;
  problem.may_fuse = path_is_auto_ && can_run_fused(clusters, dataset_.features, device_.limits);
  problem.shared_bytes = device_.limits.shared_bytes_per_block;
  problem.multiprocessors = device_.limits.multiprocessors;
  const FastPlan plan = plan_fast(problem, available);
  if (!plan.store.feasible) {
    throw lloyd::StatusError(
        lloyd::StatusCode::out_of_memory,
        "the samples and the workspace for " + std::to_string(clusters) +
            " clusters need at least " +
            std::to_string(static_cast<std::int64_t>(plan.device_bytes())) +
            " bytes of device memory, even in batches; " +
            std::to_string(static_cast<std::int64_t>(std::max(available, 0.0))) + " are available");
  }
  if (!plan.keeps_fragments || !has_all_fragments_) {  // freed before samples are allocated
    has_all_fragments_ = false;
    fragments_.resize(0);
    norms_.resize(0);
  }
  plan_ = plan;
  store_.hold(plan.store, stream_);
  hold_fragments();
}

template <class T>
void FastStep<T>::hold_fragments() {
  if (!uses_tensor_cores() || has_all_fragments_) return;
  const std::int64_t rows = plan_.keeps_fragments ? dataset_.samples : plan_.slab_rows;
  const std::int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  constexpr std::int64_t kLanes = 32;
  fragments_.resize(tiles * (kTileRows / 16) * plan_.shape.steps * kLanes);
  norms_.resize(tiles * kTileRows);
  largest_norms_.fill_bytes(0, stream_);
  if (!plan_.keeps_fragments) return;
  store_.walk({0, dataset_.samples}, nullptr, *cancel_requested_, stream_,
              [&](lloyd::RowRange rows_of_part, const Samples<T>& samples) {
                enqueue_sample_conversion(samples, rows_of_part, units_.get(), fragments_of(0),
                                          largest_norms_.data(), nullptr, stream_);
              });
  has_all_fragments_ = true;
}

// Allocates the workspace of the plan.
template <class T>
void FastStep<T>::allocate_workspace(std::int64_t clusters) {
  workspace_ = std::make_unique<Workspace>();
  Workspace& memory = *workspace_;
  memory.counters.resize(4 + SlabSums::counter_words(clusters));
  memory.sums.prepare(plan_.slab_rows, clusters, memory.counters.data() + 4);
  memory.hard_rows.resize(plan_.slab_rows);
  memory.centroids.prepare(plan_.shape, clusters, dataset_.features, stream_);
  if (!uses_tensor_cores()) return;
  const std::int64_t summaries = (plan_.slab_rows + kTileRows) * plan_.shape.parts;
  memory.best.resize(summaries);
  memory.second.resize(summaries);
  memory.nearest.resize(summaries);
  memory.open_rows.resize(plan_.open_capacity);
  memory.overflow_rows.resize(plan_.slab_rows);
  memory.candidate_limits.resize(plan_.open_capacity);
  memory.candidate_counts.resize(plan_.open_capacity);
  memory.candidates.resize(plan_.open_capacity * OpenSamples::kMaxCandidates);
  memory.candidates.fill_bytes(0, stream_);  // decision_kernel also reads unused entries
}

template <class T>
FusedArguments FastStep<T>::fused_arguments(const Pass& pass) const {
  return {fused_units_, units_.get().origin, fallbacks_.data(),
          fused_configuration(pass.clusters, dataset_.features, pass.scale.shared_limbs,
                              device_.limits)};
}

template <class T>
bool FastStep<T>::assign_and_finish(const Pass& pass, const lloyd_cuda::Finish& finish) {
  if (!plan_.fused) return false;
  store_.walk(pass.rows, nullptr, *cancel_requested_, pass.stream,
              [&](lloyd::RowRange, const Samples<T>& samples) {
                enqueue_fused_pass(pass, samples, fused_arguments(pass), device_, finish);
              });
  return true;
}

template <class T>
bool FastStep<T>::run_iterations(const lloyd_cuda::IterationArguments& first,
                                 const lloyd_cuda::IterationArguments& second, int count) {
  const Pass& pass = first.pass;
  if (!plan_.fused) return false;
  if (!device_.limits.has_cooperative_grids &&
      !lloyd_cuda_fused::suits_one_block(pass.rows.size(), pass.clusters, dataset_.features)) {
    return false;
  }
  const FusedArguments arguments = fused_arguments(pass);
  if (!lloyd_cuda_fused::can_iterate(arguments.configuration, pass.clusters, dataset_.features,
                                     device_.limits)) {
    return false;
  }
  store_.walk(pass.rows, nullptr, *cancel_requested_, pass.stream,
              [&](lloyd::RowRange, const Samples<T>& samples) {
                enqueue_fused_iterations(first, second, count, samples, arguments, device_,
                                         grid_memory_.data());
              });
  return true;
}

template <class T>
void FastStep<T>::assign(const Pass& pass) {
  if (plan_.fused) {
    store_.walk(pass.rows, pass.halt, *cancel_requested_, pass.stream,
                [&](lloyd::RowRange rows, const Samples<T>& samples) {
                  Pass part = pass;
                  part.rows = rows;
                  enqueue_fused_pass(part, samples, fused_arguments(pass), device_);
                });
    return;
  }
  if (has_all_fragments_ || !uses_tensor_cores()) convert_centroids(pass);
  store_.walk(pass.rows, pass.halt, *cancel_requested_, pass.stream,
              [&](lloyd::RowRange rows, const Samples<T>& samples) {
                for (std::int64_t begin = rows.begin; begin < rows.end; begin += plan_.slab_rows) {
                  Pass slab = pass;
                  slab.rows = {begin, std::min(begin + plan_.slab_rows, rows.end)};
                  assign_slab(slab, samples);
                }
              });
}

template <class T>
void FastStep<T>::convert_centroids(const Pass& pass) const {
  workspace_->centroids.enqueue(pass.centroids, units_.get(), largest_norms_.data(),
                                device_.limits.multiprocessors, pass.stream);
}

template <class T>
void FastStep<T>::assign_slab(const Pass& slab, const Samples<T>& samples) {
  const SlabSums& sums = workspace_->sums;
  const bool moves_changed =
      slab.accumulates() && slab.sums_only_changes && slab.former_centroids != nullptr;
  slab.begin_phase(lloyd_cuda::Phase::assignment);
  workspace_->counters.fill_bytes(0, slab.stream);
  DecisionArguments decision;
  decision.pass = slab;
  if (moves_changed) decision.changed = sums.changed();
  decision.overflow = {workspace_->counters.data() + 1, workspace_->overflow_rows.data()};
  decision.hard = {workspace_->counters.data() + 2, workspace_->hard_rows.data()};
  decision.fallbacks = fallbacks_.data();
  if (uses_tensor_cores()) {
    screen_slab(decision, samples);
  } else {
    enqueue_direct_screen(decision, samples, DirectRows::all, workspace_->centroids, units_.get(),
                          device_.limits.multiprocessors);
  }
  enqueue_decision(decision, samples, device_.limits.multiprocessors);
  if (!slab.accumulates()) return;
  slab.begin_phase(lloyd_cuda::Phase::update);
  sums.enqueue(slab, samples, !moves_changed, device_.limits.multiprocessors);
}

// Screens a slab on tensor cores. Sets decision.open.
template <class T>
void FastStep<T>::screen_slab(DecisionArguments& decision, const Samples<T>& samples) {
  const Pass& slab = decision.pass;
  const Workspace& memory = *workspace_;
  if (!has_all_fragments_) {
    enqueue_sample_conversion(samples, slab.rows, units_.get(), fragments_of(slab.rows.begin),
                              largest_norms_.data(), slab.halt, slab.stream);
    convert_centroids(slab);
  }
  decision.open = {memory.counters.data(),         memory.open_rows.data(),
                   memory.candidate_limits.data(), memory.candidate_counts.data(),
                   memory.candidates.data(),       static_cast<unsigned int>(plan_.open_capacity)};
  Screen screen;
  screen.shape = plan_.shape;
  screen.image = memory.centroids.image();
  screen.fragments = fragments_of(has_all_fragments_ ? 0 : slab.rows.begin);
  screen.rows = slab.rows;
  screen.clusters = slab.clusters;
  screen.halt = slab.halt;
  const Summaries summaries{memory.best.data(), memory.second.data(), memory.nearest.data(),
                            plan_.slab_rows + kTileRows};
  ClassificationArguments classification;
  classification.decision = decision;
  classification.norms = screen.fragments.norms + (slab.rows.begin - screen.fragments.first_row);
  classification.centroids = memory.centroids.image_norms();
  classification.far = memory.centroids.far();
  classification.steps = plan_.shape.steps;
  enqueue_screen(screen, path_, summaries, device_.limits, slab.stream);
  enqueue_classification(classification, summaries, plan_.shape.parts,
                         slab.rows.begin - first_tile_row(screen));
  enqueue_candidates(screen, path_, decision, device_.limits);
  enqueue_direct_screen(decision, samples, DirectRows::overflow, memory.centroids, units_.get(),
                        device_.limits.multiprocessors);
}

template <class T>
void FastStep<T>::for_each_part(lloyd::RowRange rows, const std::int32_t* skip,
                                const typename lloyd_cuda::Step<T>::Body& body) {
  store_.walk(rows, skip, *cancel_requested_, stream_, body);
}

template <class T>
std::int64_t FastStep<T>::exact_fallbacks() {
  unsigned long long fallbacks = 0;
  fallbacks_.download(&fallbacks, 1, stream_);
  lloyd_cuda::check(cudaStreamSynchronize(stream_), "counting exact fallbacks");
  return static_cast<std::int64_t>(fallbacks);
}

template <class T>
std::string FastStep<T>::notes() const {
  if (plan_.fused) return "labels and sums in one kernel, screen in float32";
  std::string note = "direct screen in float32";
  if (failed_self_test_) note += ", since the tensor cores failed their self-test";
  if (uses_tensor_cores()) {
    note = path_ == ScreenPath::wgmma ? "screen by wgmma" : "screen by mma.sync";
    note += ", " + std::to_string(plan_.shape.parts) +
            (plan_.shape.parts == 1 ? " part" : " parts") + " of " +
            std::to_string(plan_.shape.part_columns) + " centroids";
    if (!plan_.keeps_fragments) note += ", fragments computed in every pass";
  }
  if (store_.is_resident()) return note;
  return note + ", samples in batches of " + std::to_string(store_.plan().batch_rows);
}

template class FastStep<float>;
template class FastStep<double>;

}  // namespace lloyd_cuda_fast
