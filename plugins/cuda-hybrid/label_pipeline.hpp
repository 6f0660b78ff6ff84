// Label pipeline: overlaps labelling, copying and summation.
#pragma once

#include <cstdint>
#include <exception>
#include <thread>

#include "cuda-hybrid/block_pool.hpp"
#include "cuda-hybrid/chunk_plan.hpp"

namespace lloyd_cuda_hybrid {

/// Chunks in flight at once; each has a label buffer on both sides.
inline constexpr int kSlots = 4;

/// The slot of a chunk.
inline int slot_of(std::int64_t chunk) {
  return static_cast<int>(chunk % kSlots);
}

/// Feeds the labeller with chunks and the pool with the blocks of arrived chunks, and runs blocks
/// itself, until all blocks are taken or the pass ends.
template <class Labeller, class Body>
void feed_labelled(BlockPool& pool, const ChunkPlan& plan, Labeller& labeller, const Body& body) {
  std::int64_t started = 0;
  std::int64_t arrived = 0;
  const auto slot_is_free = [&] {
    return started < kSlots || plan.blocks_of(started - kSlots + 1) <= pool.finished();
  };
  while (!pool.stopped()) {
    if (arrived < started && labeller.arrived(slot_of(arrived))) {
      pool.publish(plan.blocks_of(++arrived));
    } else if (started < plan.chunks() && slot_is_free()) {
      labeller.start(slot_of(started), plan.chunk(started));
      ++started;
    } else if (!pool.run_one()) {
      if (arrived == plan.chunks()) return;
      const std::int64_t row = plan.chunk(arrived).begin;
      if (!body(0, lloyd::RowRange{row, row})) pool.stop();
      std::this_thread::yield();
    }
  }
}

/// Calls body(worker, block) for all blocks of a plan on the threads of a pool, each as soon as
/// `labeller` has the labels of its chunk. The pass ends early if a body returns false, or if a
/// body or the labeller throws; the exception is rethrown on the calling thread. Nothing is in
/// flight when this function returns.
///
/// A labeller has `start(slot, rows)`, which starts labelling a chunk, `arrived(slot)`, which tells
/// whether its labels are there, and `abandon()`, which waits for everything in flight and must not
/// throw. They are called on this thread.
template <class Labeller, class Body>
void run_labelled(BlockPool& pool, const ChunkPlan& plan, Labeller& labeller, const Body& body) {
  pool.begin([&](int worker, std::int64_t block) { return body(worker, plan.block(block)); });
  std::exception_ptr failure;
  try {
    feed_labelled(pool, plan, labeller, body);
  } catch (...) {
    failure = std::current_exception();
    pool.stop();
  }
  const std::exception_ptr thrown = pool.end();
  if (pool.stopped()) labeller.abandon();
  if (failure == nullptr) failure = thrown;
  if (failure != nullptr) std::rethrow_exception(failure);
}

/// The same for a pass without labels from the device.
template <class Body>
void run_unlabelled(BlockPool& pool, const ChunkPlan& plan, const Body& body) {
  pool.begin([&](int worker, std::int64_t block) { return body(worker, plan.block(block)); });
  pool.publish(plan.blocks_of(plan.chunks()));
  while (pool.run_one()) {
  }
  const std::exception_ptr thrown = pool.end();
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

}  // namespace lloyd_cuda_hybrid
