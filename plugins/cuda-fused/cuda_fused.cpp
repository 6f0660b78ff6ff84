// cuda-fused: one kernel assigns samples and sums them in shared memory; `split` makes two kernels
// of it.
#include <string>

#include "cuda/backend.hpp"
#include "cuda/fused/iterations_layout.hpp"
#include "cuda/resident/stored_step.hpp"
#include "kernels.hpp"

namespace {

using lloyd_cuda::CentroidSpace;

constexpr const char* kSpaces[] = {"shared", "global", "constant"};
constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd_cuda::device_parameter(),
    lloyd_cuda::block_size_parameter(1024),
    lloyd_cuda::memory_limit_parameter(),
    lloyd::boolean_parameter(
        "split", false,
        "true: a second kernel computes the sums; false: the kernel that labels does"),
    lloyd::choice_parameter("centroids", kSpaces,
                            "memory space of the centroids; global if they do not fit"),
};

template <class T>
class FusedStep final : public lloyd_cuda::StoredStep<T> {
 public:
  FusedStep(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters,
            const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream)
      : lloyd_cuda::StoredStep<T>(
            dataset, lloyd_cuda_fused::layout_for(dataset.features, sizeof(T) == sizeof(float)),
            parameters, limits, stream, row_alignment(dataset.features)),
        device_{limits, {}} {
    request_.features = dataset.features;
    request_.block_size = lloyd_cuda::block_size_of(parameters);
    request_.split = parameters.boolean("split");
    request_.sums_only_changes = !request_.split;
    request_.space = static_cast<CentroidSpace>(parameters.choice("centroids"));
  }

  void prepare(std::int64_t clusters,
               const typename lloyd_cuda::Step<T>::CancelRequested& cancel_requested) override {
    lloyd_cuda::StoredStep<T>::prepare(clusters, cancel_requested);
    notes_.clear();
    sums_noted_ = false;
  }
  bool assign_and_finish(const lloyd_cuda::Pass& pass, const lloyd_cuda::Finish& finish) override {
    // With more cells, many blocks compute the means sooner than one.
    constexpr std::int64_t kMaxCells = 2048;
    if (!this->is_resident() || pass.clusters * request_.features > kMaxCells) return false;
    begin_assignment(pass);
    if (!configuration_.fused) return false;
    this->for_each_part(pass.rows, nullptr,
                        [&](lloyd::RowRange, const lloyd_cuda::Samples<T>& samples) {
                          enqueue_pass(pass, samples, configuration_, device_, finish);
                        });
    return true;
  }
  // One block: no launch and no grid-wide wait between iterations.
  bool run_iterations(const lloyd_cuda::IterationArguments& first,
                      const lloyd_cuda::IterationArguments& second, int count) override {
    const lloyd_cuda::Pass& pass = first.pass;
    if (!this->is_resident() ||
        !lloyd_cuda_fused::suits_one_block(pass.rows.size(), pass.clusters, request_.features)) {
      return false;
    }
    begin_assignment(pass);
    if (!can_iterate(configuration_, pass.clusters, request_.features, device_.limits))
      return false;
    this->for_each_part(
        pass.rows, nullptr, [&](lloyd::RowRange, const lloyd_cuda::Samples<T>& samples) {
          enqueue_iterations(first, second, count, samples, configuration_, device_);
        });
    return true;
  }
  bool sums_only_changes() const override { return request_.sums_only_changes; }
  // Passes wait for constant memory, which all sessions share, so they cannot be recorded in a
  // graph.
  bool repeats() const override {
    return this->is_resident() && request_.space != CentroidSpace::constant;
  }
  std::string notes() const override {
    const std::string stored = this->store_note();
    return notes_ + (stored.empty() || notes_.empty() ? "" : ", ") + stored;
  }

 private:
  void begin_assignment(const lloyd_cuda::Pass& pass) override {
    lloyd_cuda_fused::Request request = request_;
    request.clusters = pass.clusters;
    request.centroid_bytes = pass.in_float64 ? sizeof(double) : sizeof(T);
    request.limbs = pass.scale.shared_limbs;
    configuration_ = lloyd_cuda_fused::choose(request, device_.limits);
    if (notes_.empty() || (pass.accumulates() && !sums_noted_)) {
      notes_ = note_of(request, configuration_, pass.accumulates());
      sums_noted_ = pass.accumulates();
    }
  }
  void assign_part(const lloyd_cuda::Pass& part, const lloyd_cuda::Samples<T>& samples) override {
    enqueue_pass(part, samples, configuration_, device_);
    if (!part.accumulates() || configuration_.fused || lloyd_cuda_fused::sums_changes_only(part))
      return;
    part.begin_phase(lloyd_cuda::Phase::update);
    enqueue_accumulation(part, samples, configuration_, device_.limits, request_.block_size);
  }

  // Where rows are contiguous, four float32 values are read at a time.
  static std::int64_t row_alignment(std::int64_t features) {
    const bool float32 = sizeof(T) == sizeof(float);
    const auto layout = lloyd_cuda_fused::layout_for(features, float32);
    return layout == lloyd_cuda::Layout::aos ? 16 : sizeof(T);
  }

  lloyd_cuda_fused::Device device_;
  lloyd_cuda_fused::Request request_;
  lloyd_cuda_fused::Configuration configuration_;  // of the current pass
  // Notes on the passes since prepare(), on accumulating ones if there were any.
  std::string notes_;
  bool sums_noted_ = false;
};

struct FusedPlugin : lloyd_cuda::StoredPlugin<FusedStep> {
  static constexpr lloyd::BackendInfo kInfo = lloyd_cuda::float32_info(
      "CUDA: assignment and sums in one kernel, in shared memory", 140, kParameters);
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd_cuda::CudaBackend<FusedPlugin>);
