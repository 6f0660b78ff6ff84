// Relocates empty clusters on the device: chooses samples, and moves them in the cluster sums.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/sdk/iteration_rules.hpp>

#include "cuda/passes/finish_pass.hpp"
#include "cuda/passes/samples.hpp"
#include "cuda/relocation/farthest_selection.hpp"

namespace lloyd_cuda {

/// Arguments of a relocation. All pointers are device memory. Kernels return immediately unless
/// LoopState::halt is kHaltNone.
struct RelocationUpdate {
  std::int64_t clusters = 0;                 ///< k
  std::int64_t features = 0;                 ///< d
  SelectedSamples farthest;                  ///< selected with wanted >= min(k, n)
  SumScale scale;                            ///< of `totals`
  Totals totals;                             ///< of the assignment, in and out
  lloyd::Relocation* relocations = nullptr;  ///< k, output
  LoopState* state = nullptr;                ///< out: LoopState::relocations
};

/// Enqueues the choice of the samples that move: lloyd::choose_relocations(). Writes the
/// relocations, their number, and the counts of the totals.
void enqueue_choose_relocations(const RelocationUpdate& update, cudaStream_t stream);

/// Enqueues the move of the chosen samples that are among `rows`: subtracts them from the sums of
/// their clusters and adds them to those of the empty ones, exactly. After
/// enqueue_choose_relocations(), once for every part of the rows, in any order.
template <class T>
void enqueue_move_samples(const RelocationUpdate& update, lloyd::RowRange rows,
                          const Samples<T>& samples, cudaStream_t stream);

}  // namespace lloyd_cuda
