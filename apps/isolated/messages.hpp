// Messages between this program and the process of a plugin, one packet each. Both ends are the
// same executable, so structs of the boundary are sent as raw bytes, followed by the data that
// their pointers refer to.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/parameter_set.hpp>
#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/registry.hpp>

#include "machine/system/openmp_runtimes.hpp"

namespace lloyd::isolated {

/// Description of a loaded plugin, owned by this process. Neither copyable nor movable: `info`
/// points into it.
struct Description {
  /// Decodes the bytes of encode_description(). Throws InputError if they are malformed.
  explicit Description(std::string_view bytes);
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  BackendInfo info;
  std::vector<DeviceInfo> devices;
  std::string unavailable;  ///< why the backend cannot run here; empty if it can
  std::vector<machine::OpenmpRuntime> openmp_runtimes;  ///< loaded in the plugin's process

 private:
  std::deque<std::string> texts_;
  std::deque<std::vector<const char*>> choices_;
  std::vector<ParameterInfo> parameters_;
};

/// First byte of the answers to the first message, which is the plugin's path: one for each stage
/// of loading, then the outcome.
enum class LoadOutcome : char {
  stage = 's',      ///< followed by the LoadingStage that begins, as a digit
  described = 'd',  ///< followed by encode_description()
  refused = 'r',    ///< followed by the loader's error message
  failed = 'f',     ///< followed by an error message; the plugin is not to blame
};

std::string encode_description(const LoadedBackend& backend,
                               const std::vector<machine::OpenmpRuntime>& runtimes);

enum class QuestionKind : std::int32_t { supports, estimate };

/// Arguments of Backend::supports() or Backend::estimate(). Initial centroids are not sent.
struct Question {
  QuestionKind kind = QuestionKind::supports;
  ProblemShape shape;
  FitSpec spec;
};

/// Result of the call.
struct Reply {
  Status status;
  MemoryEstimate memory;  ///< for `estimate`
};

std::string encode_question(const Question& question, const ParameterList& parameters);
/// Overwrites the values of `parameters`, initially the backend's defaults. Throws InputError if
/// the bytes are malformed or do not match the backend's parameters.
Question decode_question(std::string_view bytes, std::vector<ParameterValue>& parameters);
std::string encode_reply(const Reply& reply);
/// Throws InputError if the bytes are malformed.
Reply decode_reply(std::string_view bytes);

}  // namespace lloyd::isolated
