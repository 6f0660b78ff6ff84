// A trace on its way from the process that made it.
#pragma once

#include <cstdint>

#include "experiment/trial/trace.hpp"
#include "ipc/descriptor.hpp"

namespace lloyd::experiment {

/// The trace in shared memory, as the JSON of a record: one of many iterations is too long for a
/// packet. Throws Error.
apps::Descriptor share_trace(const Trace& trace);

/// The trace that share_trace() has put there; `descriptor` may be anything. Throws Error where it
/// is no such memory, or InputError where the memory holds no trace of `clusters` clusters.
Trace receive_trace(int descriptor, std::int64_t clusters);

}  // namespace lloyd::experiment
