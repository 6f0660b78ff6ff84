// ProgramDescription: the answer of `PROGRAM describe`.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <lloyd/plugin/abi/backend.hpp>

namespace lloyd::external {

/// Backend name of all external programs in an experiment.
inline constexpr char kBackendName[] = "external";
/// Parameter of the backend `external` in an experiment: the program's path.
inline constexpr char kProgramKey[] = "program";
/// Maximum nesting of an external program's JSON.
inline constexpr int kMaxJsonLevels = 8;

/// The keys are documented in docs/external_programs.md. Neither copyable nor movable: `info`
/// points into it.
struct ProgramDescription {
  /// Throws InputError, one sentence without the program's name, if the description is invalid.
  explicit ProgramDescription(std::string_view json);
  ProgramDescription(const ProgramDescription&) = delete;
  ProgramDescription& operator=(const ProgramDescription&) = delete;

  std::string name;
  std::string version;
  std::string unavailable;  ///< why the program cannot run here; empty if it can
  bool prepares = false;    ///< it answers the request `prepare`
  std::vector<DeviceInfo> devices;
  BackendInfo info;

 private:
  void read_parameters(const nlohmann::ordered_json& list);

  std::deque<std::string> texts_;
  std::deque<std::vector<const char*>> choices_;
  std::vector<ParameterInfo> parameters_;
};

}  // namespace lloyd::external
