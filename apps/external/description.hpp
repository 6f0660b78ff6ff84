// ProgramDescription: what an external program says of itself.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <lloyd/plugin/abi/backend.hpp>

namespace lloyd::external {

/// What an experiment calls every external program.
inline constexpr char kBackendName[] = "external";
/// What names the program among the parameters of `external` in an experiment.
inline constexpr char kProgramKey[] = "program";
/// Levels that the JSON of an external program may be nested to.
inline constexpr int kMaxJsonLevels = 8;

/// Answer of `PROGRAM describe`; docs/external_programs.md has its keys. Not copied or moved:
/// `info` points into it.
struct ProgramDescription {
  /// Throws InputError, one sentence without the program's name, for what is no description.
  explicit ProgramDescription(std::string_view json);
  ProgramDescription(const ProgramDescription&) = delete;
  ProgramDescription& operator=(const ProgramDescription&) = delete;

  std::string name;
  std::string version;
  std::string unavailable;  ///< why it cannot run here; empty where it can
  std::vector<DeviceInfo> devices;
  BackendInfo info;

 private:
  void read_parameters(const nlohmann::ordered_json& list);

  std::deque<std::string> texts_;
  std::deque<std::vector<const char*>> choices_;
  std::vector<ParameterInfo> parameters_;
};

}  // namespace lloyd::external
