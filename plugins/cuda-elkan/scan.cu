// Scan: one warp per listed sample checks all bounds of the sample, computes the remaining
// distances, up to 32 at a time, and stores new bounds from them.
#include "block.cuh"
#include "cost.hpp"
#include "cuda/device/check.hpp"
#include "cuda/device/shared_memory.hpp"
#include "gather.cuh"
#include "kernels.hpp"

namespace lloyd_cuda_elkan {
namespace {

// Bounds that a lane loads at once, to overlap the latency of the loads.
constexpr int kAhead = 4;

// Shared memory of a warp.
struct ScanMemory {
  GatherMemory gather;
  int groups[2 * kWarp];         // groups that wait for their distances
  std::uint32_t changed[kWarp];  // changed rows that wait to be listed
  std::int32_t former_label[kWarp];
};

// State of a sample; the same in all lanes but for `found` and `excluded`.
struct Sample {
  std::int64_t row = 0;
  std::int32_t label = 0;
  double own = 0;            // squared distance to the centroid of `label`
  double lowest = 0;         // smallest computed so far, including `own`
  float limit = 0;           // exclusion_limit() of `lowest`
  NearestTwo found;          // among the distances of this lane
  float excluded = FLT_MAX;  // smallest lower bound by which this lane excluded a group
};

__device__ NearestTwo from_lane(const NearestTwo& mine, int offset) {
  NearestTwo other;
  other.first = __shfl_xor_sync(kFullWarp, mine.first, offset);
  other.second = __shfl_xor_sync(kFullWarp, mine.second, offset);
  other.in_group = __shfl_xor_sync(kFullWarp, mine.in_group, offset);
  other.label = __shfl_xor_sync(kFullWarp, mine.label, offset);
  return other;
}

template <class T>
class Scan {
 public:
  __device__ Scan(const Part<T>& part, ScanMemory& memory)
      : part_(part),
        memory_(memory),
        lane_(static_cast<int>(threadIdx.x % kWarp)),
        width_(static_cast<int>(part.bounds.group_size < kWarp ? part.bounds.group_size : kWarp)) {}

  // All lanes must call the public functions.
  __device__ void settle(unsigned place) {
    Sample sample;
    sample.row = part_.pass.rows.begin + part_.lists.listed[place];
    sample.label = part_.pass.labels[sample.row];
    sample.own = sample.lowest = part_.lists.own_distance[place];
    const float upper = upper_bound(sample.own);
    sample.limit = exclusion_limit(upper);
    const int at_once = kWarp / width_;  // groups per call of compute()
    int waiting = 0;
    for (std::int64_t base = 0; base < part_.bounds.count; base += kAhead * kWarp) {
      float lowers[kAhead];
#pragma unroll
      for (int ahead = 0; ahead < kAhead; ++ahead) {
        lowers[ahead] = lower_of(sample, base + ahead * kWarp + lane_, upper);
      }
#pragma unroll
      for (int ahead = 0; ahead < kAhead; ++ahead) {
        const std::int64_t g = base + ahead * kWarp + lane_;
        const bool excluded = lowers[ahead] > sample.limit;
        if (excluded) sample.excluded = fminf(sample.excluded, lowers[ahead]);
        const bool left = g < part_.bounds.count && !excluded;
        const unsigned lanes = __ballot_sync(kFullWarp, left);
        if (left) {
          memory_.groups[waiting + __popc(lanes & ((1u << lane_) - 1))] = static_cast<int>(g);
        }
        waiting += __popc(lanes);
        __syncwarp();
        for (; waiting >= at_once; waiting -= at_once) {
          compute(sample, waiting - at_once, at_once);
        }
      }
    }
    if (waiting > 0) compute(sample, 0, waiting);
    finish(sample);
  }

  __device__ void flush_changed() {
    unsigned first = 0;
    if (lane_ == 0 && changed_ > 0) first = atomicAdd(&part_.work->changed, changed_);
    first = __shfl_sync(kFullWarp, first, 0);
    __syncwarp();
    if (part_.lists.changed != nullptr && static_cast<unsigned>(lane_) < changed_) {
      part_.lists.changed[first + lane_] = memory_.changed[lane_];
      part_.lists.former_label[first + lane_] = memory_.former_label[lane_];
    }
    changed_ = 0;
    __syncwarp();
  }

  __device__ void add_distances() const {
    unsigned long long sum = computed_;
    for (int offset = kWarp / 2; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(kFullWarp, sum, offset);
    }
    if (lane_ != 0 || sum == 0) return;
    atomicAdd(&part_.work->distances, sum);
    atomicAdd(&part_.work->scanned, sum);
  }

 private:
  // Lower bound of the distance to the members of a group, without the assigned centroid; infinite
  // if there are none.
  __device__ float lower_of(const Sample& sample, std::int64_t g, float upper) const {
    if (part_.bounds.groups == nullptr) return 0;  // the screen has checked the only bound
    if (g >= part_.bounds.count) return HUGE_VALF;
    if (part_.bounds.group_size == 1 && g == sample.label) return HUGE_VALF;
    const float lower = lower_now(part_.bounds.groups[sample.row * part_.bounds.count + g],
                                  part_.moves.group_drift[g]);
    if (part_.moves.separation == nullptr) return lower;
    const float separation = part_.moves.separation[sample.label * part_.bounds.count + g];
    return fmaxf(lower, lower_across(separation, upper));
  }

  // Computes the distances to the members of `count` waiting groups, each by `width_` lanes,
  // without the assigned centroid.
  __device__ void compute(Sample& sample, int from, int count) {
    const std::int64_t size = part_.bounds.group_size;
    const std::int64_t k = part_.pass.clusters;
    const T* x = part_.samples.row(sample.row);
    const int segment = lane_ / width_;
    const std::int64_t g = segment < count ? memory_.groups[from + segment] : -1;
    __syncwarp();  // the groups have been read
    NearestTwo group;
    for (std::int64_t step = lane_ % width_; step < size; step += width_) {
      const std::int64_t c = g * size + step;
      const bool wanted = g >= 0 && c < k && c != sample.label;
      const double squared =
          gathered_distance(x, part_.pass.centroids, wanted ? static_cast<int>(c) : -1,
                            part_.samples.features, memory_.gather);
      if (!wanted) continue;
      group.add_in_group(squared, static_cast<int>(c));
      ++computed_;
    }
    for (int offset = width_ / 2; offset > 0; offset /= 2) {
      group.merge_in_group(from_lane(group, offset));
    }
    if (g >= 0 && lane_ % width_ == 0) {
      if (part_.bounds.groups != nullptr) {
        part_.bounds.groups[sample.row * part_.bounds.count + g] =
            store_lower(lower_bound(group.first), part_.moves.group_drift[g]);
      }
      sample.found.merge(group);
    }
    if (__ballot_sync(kFullWarp, sample.found.first < sample.lowest) == 0) return;
    double lowest = sample.found.first;
    for (int offset = kWarp / 2; offset > 0; offset /= 2) {
      lowest = fmin(lowest, __shfl_xor_sync(kFullWarp, lowest, offset));
    }
    sample.lowest = lowest;
    sample.limit = exclusion_limit(upper_bound(lowest));
  }

  // Stores label and bounds of a sample after all groups were checked.
  __device__ void finish(Sample& sample) {
    NearestTwo others = sample.found;
    float excluded = sample.excluded;
    for (int offset = kWarp / 2; offset > 0; offset /= 2) {
      others.merge(from_lane(others, offset));
      excluded = fminf(excluded, __shfl_xor_sync(kFullWarp, excluded, offset));
    }
    const bool changed =
        others.first < sample.own || (others.first == sample.own && others.label < sample.label);
    __syncwarp();  // all group bounds are stored
    if (lane_ == 0) {
      const int label = changed ? others.label : sample.label;
      const double first = changed ? others.first : sample.own;
      const double second = changed ? fmin(others.second, sample.own) : others.first;
      part_.bounds.upper[sample.row] = store_upper(upper_bound(first), part_.moves.drift[label]);
      part_.bounds.lower[sample.row] =
          store_lower(fminf(excluded, lower_bound(second)), *part_.moves.drift_of_all);
      if (changed) change(sample, others);
    }
    if (changed && ++changed_ == kWarp) flush_changed();
  }

  // Changes the label; lane 0 only. The new label leaves the bound of its group, and the former one
  // joins the bound of its own.
  __device__ void change(const Sample& sample, const NearestTwo& others) {
    part_.pass.labels[sample.row] = others.label;
    memory_.changed[changed_] = static_cast<std::uint32_t>(sample.row - part_.pass.rows.begin);
    memory_.former_label[changed_] = sample.label;
    if (part_.bounds.groups == nullptr) return;
    const std::int64_t size = part_.bounds.group_size;
    float* bounds = part_.bounds.groups + sample.row * part_.bounds.count;
    const std::int64_t joined = sample.label / size;
    const std::int64_t left = others.label / size;
    const double in_left = joined == left ? fmin(others.in_group, sample.own) : others.in_group;
    bounds[left] = store_lower(lower_bound(in_left), part_.moves.group_drift[left]);
    if (joined == left) return;
    const float own = store_lower(lower_bound(sample.own), part_.moves.group_drift[joined]);
    bounds[joined] = size == 1 ? own : fminf(bounds[joined], own);
  }

  const Part<T>& part_;
  ScanMemory& memory_;
  const int lane_;
  const int width_;        // lanes per group
  unsigned computed_ = 0;  // distances computed by this lane
  unsigned changed_ = 0;   // changed rows that wait to be listed
};

template <class T>
__global__ void __launch_bounds__(kMaxWarpThreads, 3) scan_kernel(Part<T> part) {
  extern __shared__ ScanMemory memories[];
  if (block_halted(part.pass.halt)) return;
  const unsigned listed = part.work->listed;
  PartCost cost;
  cost.samples = part.pass.rows.size();
  cost.features = part.samples.features;
  cost.clusters = part.pass.clusters;
  cost.groups = part.bounds.count;
  cost.listed = listed;
  cost.per_sample = part.work->per_sample;
  const bool all = assigning_all_pays(cost);
  if (blockIdx.x == 0 && threadIdx.x == 0) part.work->all = all ? 1 : 0;
  if (all) return;
  const unsigned warps = gridDim.x * (blockDim.x / kWarp);
  Scan<T> scan(part, memories[threadIdx.x / kWarp]);
  for (unsigned place = blockIdx.x * (blockDim.x / kWarp) + threadIdx.x / kWarp; place < listed;
       place += warps) {
    scan.settle(place);
  }
  scan.flush_changed();
  scan.add_distances();
}

}  // namespace

template <class T>
void enqueue_scan(const Part<T>& part, const Grid& grid) {
  const int threads = grid.threads(sizeof(ScanMemory));
  const std::int64_t warps = threads / kWarp;
  const std::size_t shared = static_cast<std::size_t>(warps) * sizeof(ScanMemory);
  const std::int64_t blocks = (part.pass.rows.size() + warps - 1) / warps;
  lloyd_cuda::allow_shared_memory(scan_kernel<T>, static_cast<std::int64_t>(shared),
                                  grid.shared_bytes);
  scan_kernel<T><<<grid.blocks(blocks, threads), threads, shared, part.pass.stream>>>(part);
  lloyd_cuda::check_launch("scan_kernel");
}

template void enqueue_scan(const Part<float>&, const Grid&);
template void enqueue_scan(const Part<double>&, const Grid&);

}  // namespace lloyd_cuda_elkan
