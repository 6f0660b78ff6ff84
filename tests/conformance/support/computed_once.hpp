// Results that all variants of a backend share, computed once per process.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <lloyd/plugin/abi/types.hpp>

namespace lloyd::conformance {

/// The value that `compute` returned when it was first called for this T, data type and
/// description. Expected results do not depend on the variant of the backend, and the definition
/// takes longer to compute them than the backend. `what` must be unique within the suite. May be
/// called by several threads; one computes at a time.
template <class T, class Compute>
T computed_once(DType dtype, const std::string& what, Compute compute) {
  static std::mutex mutex;
  static std::map<std::pair<DType, std::string>, T> known;
  const std::lock_guard lock(mutex);
  const auto key = std::make_pair(dtype, what);
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, compute()).first->second;
}

}  // namespace lloyd::conformance
