// Rules of PassKernels that do not depend on the implementation.
#pragma once

#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/abi/status.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

namespace lloyd {

/// Throws what PassKernels::begin() returns for these options and sums.
inline void check_pass_options(const SumPlan& plan, const PassOptions& options) {
  if (!plan.is_integer()) {
    throw StatusError(
        StatusCode::unsupported,
        "passes need integer sums, and the sums of this data set do not fit 127 bits or "
        "its exponents are out of range");
  }
  if (options.clusters < 1 || options.limbs.count < 1 || options.limbs.count > 8 ||
      options.limbs.bits < 1 || options.limbs.bits > 63) {
    throw StatusError(StatusCode::invalid_argument,
                      "begin() takes 1 or more clusters, and 1 to 8 limbs of 1 to 63 bits");
  }
}

/// Throws unless begin() has been called.
inline void require_passes(bool begun) {
  if (begun) return;
  throw StatusError(StatusCode::invalid_argument, "there are no passes; call begin() first");
}

/// Throws unless pass() has been called since begin().
inline void require_pass_labels(bool has_labels) {
  if (has_labels) return;
  throw StatusError(StatusCode::invalid_argument, "there are no labels yet; call pass() first");
}

}  // namespace lloyd
