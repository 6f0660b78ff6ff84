#include "external/backend.hpp"

#include <unistd.h>

#include <algorithm>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/plugin/abi/abi.hpp>
#include <lloyd/plugin/sdk/guard.hpp>

#include "external/description.hpp"
#include "external/session.hpp"
#include "json/parameters_json.hpp"

namespace lloyd::external {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kDefaultCloseLimit{60};
// Interface name for Backend::query() that gives the ServingProgram of an ExternalBackend.
constexpr char kServingProgram[] = "lloyd.serving_program";

// One program serves all sessions, which must not overlap.
class ExternalBackend final : public Backend {
 public:
  ExternalBackend(fs::path file, std::string_view description)
      : program_{std::move(file), kDefaultCloseLimit}, description_(description) {
    program_.prepares = description_.prepares;
  }

  const ProgramDescription& description() const { return description_; }

  const BackendInfo* info() const noexcept override { return &description_.info; }
  Status supports(const ProblemShape&, const ParameterList&,
                  const FitSpec&) const noexcept override {
    return {};
  }
  // The program's memory is unknown; assume that it copies the samples.
  Status estimate(const ProblemShape& shape, const ParameterList&, const FitSpec&,
                  MemoryEstimate& memory) const noexcept override {
    memory.host_bytes = shape.samples * shape.features * size_of(shape.dtype);
    memory.device_bytes = 0;
    return {};
  }
  Status open(const DatasetView& dataset, const ParameterList& parameters,
              Session** session) noexcept override {
    return guarded([&] {
      const std::span<const ParameterInfo> schema(
          description_.info.parameters,
          static_cast<std::size_t>(description_.info.parameter_count));
      *session =
          new ExternalSession(program_, dataset, apps::parameters_json(schema, parameters).dump());
    });
  }
  void* query(const char* name) noexcept override {
    return std::string_view(name) == kServingProgram ? &program_ : nullptr;
  }
  void release() noexcept override { delete this; }

 private:
  ServingProgram program_;
  ProgramDescription description_;
};

}  // namespace

std::shared_ptr<const LoadedBackend> load_program(const fs::path& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  if (status.type() == fs::file_type::not_found) {
    throw InputError(fmt::format("{} does not exist", file.string()));
  }
  if (fs::is_directory(status)) {
    throw InputError(fmt::format("{} is a folder, not a program", file.string()));
  }
  if (::access(file.c_str(), X_OK) != 0 || !fs::is_regular_file(status)) {
    throw InputError(fmt::format("{} is not an executable file", file.string()));
  }
  if (!is_program(file)) {
    throw InputError(fmt::format(
        "{} is named like a plugin; the name of a program must not end in '.so'", file.string()));
  }
  const std::string text = Program(file, "describe").output();
  std::unique_ptr<ExternalBackend> backend;
  try {
    backend = std::make_unique<ExternalBackend>(file, text);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} does not describe itself as an external program: {}",
                                 file.string(), error.what()));
  }
  const ProgramDescription& description = backend->description();
  PluginHeader header = make_plugin_header("", "");
  std::copy(description.name.begin(), description.name.end(), header.name);
  std::copy(description.version.begin(), description.version.end(), header.version);
  // Ownership passes to LoadedBackend, which calls release().
  Backend* const object = backend.release();
  return std::make_shared<const LoadedBackend>(file, header, object, description.devices,
                                               description.unavailable);
}

namespace {

// Null if the backend is a plugin.
ServingProgram* serving_program(const LoadedBackend& backend) {
  if (!is_program(backend.path())) return nullptr;
  return static_cast<ServingProgram*>(backend.backend().query(kServingProgram));
}

}  // namespace

void set_close_limit(const LoadedBackend& backend, std::chrono::milliseconds limit) {
  if (ServingProgram* const program = serving_program(backend)) program->close_limit = limit;
}

std::string take_close_failure(const LoadedBackend& backend) {
  ServingProgram* const program = serving_program(backend);
  return program == nullptr ? std::string() : std::exchange(program->close_failure, {});
}

bool prepares(const LoadedBackend& backend) {
  const ServingProgram* const program = serving_program(backend);
  return program != nullptr && program->prepares;
}

void prepare(const LoadedBackend& backend) {
  if (ServingProgram* const program = serving_program(backend)) prepare(*program);
}

bool is_program(const fs::path& file) {
  return file.extension() != ".so";
}

std::shared_ptr<const LoadedBackend> load_plugin_or_program(const fs::path& file) {
  if (is_program(file)) return load_program(file);
  return load_plugin(file);
}

}  // namespace lloyd::external
