// Passes a trace between processes.
#pragma once

#include <cstdint>

#include "experiment/trial/trace.hpp"
#include "ipc/descriptor.hpp"

namespace lloyd::experiment {

/// Writes the trace to shared memory, as the JSON of a record: a trace of many iterations exceeds a
/// packet. Throws Error.
apps::Descriptor share_trace(const Trace& trace);

/// Reads a trace written by share_trace(). `descriptor` is not trusted. Throws Error if it is no
/// such memory, and InputError if the memory holds no trace of `clusters` clusters.
Trace receive_trace(int descriptor, std::int64_t clusters);

}  // namespace lloyd::experiment
