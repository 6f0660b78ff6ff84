// What a fit asks of a backend: whether it is available, capable, and given a valid request.
#pragma once

#include <cstdint>
#include <string>

#include <lloyd/registry.hpp>

namespace lloyd {

/// Names the first required capability that the backend lacks; empty if it has all.
std::string missing_capability(const LoadedBackend& backend, std::uint64_t required);

/// Throws BackendError with the reason if the backend is unavailable.
void check_available(const LoadedBackend& backend);

/// Throws InputError unless the parameters have the schema of the backend.
void check_parameters(const LoadedBackend& backend, const ParameterSet& parameters);

/// Throws InputError unless 1 <= clusters < 2^31, since labels are int32, and the number of
/// clusters x features values fits into 64 bits.
void check_cluster_count(std::int64_t clusters, std::int64_t features);

}  // namespace lloyd
