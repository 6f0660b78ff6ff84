// Remembers fits that passed all checks, so that equal fits need not be checked again.
#pragma once

#include "conformance/support/trial.hpp"

namespace lloyd::conformance {

/// True if remember_verified() was called with the same problem and a fit with the same bits, under
/// the same claims of accuracy and reproducibility. Times and numbers of distances may differ.
/// Variants of a reproducible backend, and all canonical backends, give the same bits; checking a
/// fit takes longer than running it. May be called by several threads.
bool is_verified(const Context& context, const Samples& samples, const Setting& setting,
                 const Trial& trial);
/// Keeps a copy of a fit that passed all checks. The oldest copies are dropped once all together
/// take more than 64 MiB.
void remember_verified(const Context& context, const Samples& samples, const Setting& setting,
                       const Trial& trial);

}  // namespace lloyd::conformance
