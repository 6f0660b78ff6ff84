// A step that breaks one rule of step.hpp; the build defines which.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <lloyd/plugin/plugin.hpp>

namespace {

constexpr lloyd::BackendInfo kInfo = lloyd::exact_step_info("a step with a fault");

template <class T>
struct FaultyStep : lloyd::RowStep<FaultyStep<T>, T> {
  using Base = lloyd::RowStep<FaultyStep<T>, T>;
  using Base::Base;

  std::int32_t label(const T* x) const {
    return lloyd::nearest_centroid(x, this->centroids, this->clusters, this->dataset.features)
        .label;
  }

  void begin_pass(const double* values, std::int64_t count, const lloyd::StepPassOptions& options) {
    Base::begin_pass(values, count, options);
#if defined(LLOYD_WRITES_CENTROIDS)
    const_cast<double&>(values[0]) += 0.25;
#endif
  }

  std::int64_t assign(lloyd::RowRange block, std::int32_t* labels) {
#if defined(LLOYD_SHARES_WORKER)
    meet();
#endif
#if defined(LLOYD_WRITES_SAMPLES)
    auto* const row =
        static_cast<const T*>(this->dataset.data) + block.begin * this->dataset.stride;
    const_cast<T&>(row[0]) += 1;
#endif
    const std::int64_t changed = Base::assign(block, labels);
#if defined(LLOYD_OVERRUNS_BLOCKS)
    if (block.end < this->dataset.samples) labels[block.size()] = 0;
#endif
    return changed;
  }

#if defined(LLOYD_SHARES_WORKER)
  // Two threads, both as worker 0.
  template <class Body>
  void for_each_block(lloyd::RowRange rows, Body&& body) {
    const std::int64_t middle = rows.begin + rows.size() / 2;
    arrived = 0;
    std::thread other([&] {
      if (middle > rows.begin) body(0, lloyd::RowRange{rows.begin, middle});
      ++arrived;
    });
    body(0, lloyd::RowRange{middle, rows.end});
    ++arrived;
    other.join();
  }

  // Waits until both threads have a block.
  void meet() {
    ++arrived;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (arrived < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  }

  std::atomic<int> arrived{0};
#elif defined(LLOYD_OVERRUNS_BLOCKS)
  template <class Body>
  void for_each_block(lloyd::RowRange rows, Body&& body) const {
    constexpr std::int64_t kRows = 16;
    for (std::int64_t begin = rows.begin; begin < rows.end; begin += kRows) {
      body(0, lloyd::RowRange{begin, std::min(begin + kRows, rows.end)});
    }
  }
#endif
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<FaultyStep, kInfo>);
