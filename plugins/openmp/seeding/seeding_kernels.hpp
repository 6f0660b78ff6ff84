// OpenmpSeeding: screened, exact kernels for k-means++ and k-means||.
#pragma once

#include <lloyd/plugin/abi/seeding_kernels.hpp>
#include <lloyd/plugin/sdk/thread_team.hpp>

#include "common/instruction_set.hpp"
#include "seeding/rated_candidates.hpp"
#include "seeding/rounded_samples.hpp"

namespace lloyd_openmp {

/// Implements lloyd::SeedingKernels with screened distances; the results are bit-identical to those
/// of the definition. Serves one thread at a time.
class OpenmpSeeding final : public lloyd::SeedingKernels {
 public:
  /// True if the kernels support this number of features.
  static bool supports(std::int64_t features);

  /// The data that `dataset` refers to and `team` must outlive it.
  OpenmpSeeding(const lloyd::DatasetView& dataset, lloyd::ThreadTeam& team, InstructionSet set);

  /// Bytes that passes over n samples of d features keep until release().
  static std::int64_t stored_bytes(lloyd::DType dtype, std::int64_t n, std::int64_t d);
  /// Frees the memory that the passes of a seeding keep.
  void release();

  lloyd::Status nearest(const lloyd::NearestRequest& request,
                        lloyd::Observer* observer) noexcept override;
  lloyd::Status gains(const lloyd::GainsRequest& request,
                      lloyd::Observer* observer) noexcept override;

 private:
  // Prepares a pass that screens integers. Returns false if the pass must screen in float32 or
  // float64.
  bool begin_integer_pass(const lloyd::GainsRequest& request);

  // Calls task.operator()<T, Real>() with the types of the samples and of the screen.
  template <class Task>
  void dispatch(const double* centroids, std::int64_t count, Task&& task) const;

  lloyd::DatasetView dataset_;
  lloyd::ThreadTeam& team_;
  InstructionSet instruction_set_;
  bool in_float32_range_;
  RoundedSamples rounded_;
  RatedCandidates rated_;
};

}  // namespace lloyd_openmp
