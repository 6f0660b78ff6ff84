// What this program and the process of a plugin say to each other: one packet for each message.
// Both ends are the same executable, so structs of the boundary travel as they lie in memory, their
// pointers replaced by what they point to.
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

/// What a loaded plugin says of itself, as a copy that this process owns. Not copied or moved:
/// `info` points into it.
struct Description {
  /// Throws InputError for what encode_description() has not made.
  explicit Description(std::string_view bytes);
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  BackendInfo info;
  std::vector<DeviceInfo> devices;
  std::string unavailable;  ///< why it cannot run here; empty where it can
  std::vector<machine::OpenmpRuntime> openmp_runtimes;  ///< that the plugin's process has loaded

 private:
  std::deque<std::string> texts_;
  std::deque<std::vector<const char*>> choices_;
  std::vector<ParameterInfo> parameters_;
};

/// The answer to the first message, which is the plugin's path.
enum class LoadOutcome : char {
  described = 'd',  ///< followed by a description
  refused = 'r',    ///< followed by the loader's sentence
  failed = 'f',     ///< followed by a sentence; the plugin is not to blame
};

std::string encode_description(const LoadedBackend& backend,
                               const std::vector<machine::OpenmpRuntime>& runtimes);

enum class QuestionKind : std::int32_t { supports, estimate };

/// A call of Backend::supports or Backend::estimate. Initial centroids do not travel.
struct Question {
  QuestionKind kind = QuestionKind::supports;
  ProblemShape shape;
  FitSpec spec;
};

/// What the call returned.
struct Reply {
  Status status;
  MemoryEstimate memory;  ///< of `estimate`
};

std::string encode_question(const Question& question, const ParameterList& parameters);
/// The parameters' values are written over those of `parameters`, a backend's defaults. Throws
/// InputError for what encode_question() has not made for this backend.
Question decode_question(std::string_view bytes, std::vector<ParameterValue>& parameters);
std::string encode_reply(const Reply& reply);
/// Throws InputError for what encode_reply() has not made.
Reply decode_reply(std::string_view bytes);

}  // namespace lloyd::isolated
