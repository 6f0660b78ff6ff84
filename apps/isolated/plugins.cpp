#include "isolated/plugins.hpp"

#include <algorithm>

#include <lloyd/error.hpp>
#include <lloyd/plugin/sdk/guard.hpp>

#include "isolated/plugin_process.hpp"

namespace lloyd::isolated {
namespace {

namespace fs = std::filesystem;

// Limits processes and descriptors: each plugin takes one process and two descriptors.
constexpr std::size_t kMaxStartedAhead = 64;

class IsolatedBackend final : public Backend {
 public:
  explicit IsolatedBackend(std::shared_ptr<PluginProcess> process) : process_(std::move(process)) {}

  const BackendInfo* info() const noexcept override { return &process_->description().info; }
  Status supports(const ProblemShape& shape, const ParameterList& parameters,
                  const FitSpec& spec) const noexcept override {
    MemoryEstimate none;
    return ask({QuestionKind::supports, shape, spec}, parameters, none);
  }
  Status estimate(const ProblemShape& shape, const ParameterList& parameters, const FitSpec& spec,
                  MemoryEstimate& memory) const noexcept override {
    return ask({QuestionKind::estimate, shape, spec}, parameters, memory);
  }
  Status open(const DatasetView&, const ParameterList&, Session**) noexcept override {
    return Status::error(StatusCode::unsupported, "the plugin is not loaded in this process");
  }
  void* query(const char*) noexcept override { return nullptr; }
  void release() noexcept override { delete this; }

 private:
  Status ask(const Question& question, const ParameterList& parameters,
             MemoryEstimate& memory) const noexcept {
    Reply reply;
    const Status status = guarded([&] { reply = process_->ask(question, parameters); });
    memory = reply.memory;
    return status.ok() ? reply.status : status;
  }

  std::shared_ptr<PluginProcess> process_;
};

}  // namespace

IsolatedPlugins::IsolatedPlugins(std::chrono::seconds limit, Use use) : limit_(limit), use_(use) {}

IsolatedPlugins::~IsolatedPlugins() {
  finish();
}

PluginLoader IsolatedPlugins::loader() {
  return {[this](const fs::path& file) { return load(file); },
          [this](const std::vector<fs::path>& files) { prepare(files); },
          "--plugin-dir and LLOYD_PLUGIN_PATH name further folders with plugins"};
}

std::shared_ptr<PluginProcess> IsolatedPlugins::process_of(const fs::path& file) {
  const auto known = processes_.find(file);
  if (known != processes_.end()) return known->second;
  // Constructed before the insertion, so that a failed start leaves no null entry for finish().
  return processes_.emplace(file, std::make_shared<PluginProcess>(file, limit_)).first->second;
}

void IsolatedPlugins::prepare(const std::vector<fs::path>& files) {
  const std::size_t count = std::min(files.size(), kMaxStartedAhead);
  for (std::size_t i = 0; i < count; ++i) process_of(fs::absolute(files[i]));
}

std::unique_ptr<LoadedBackend> IsolatedPlugins::load(const fs::path& given) {
  const fs::path file = fs::absolute(given);
  const PluginHeader header = read_plugin_header(file);
  const std::shared_ptr<PluginProcess> process = process_of(file);
  const Description& description = process->description();
  if (use_ == Use::description) process->finish();
  auto backend = std::make_unique<LoadedBackend>(file, header, new IsolatedBackend(process),
                                                 description.devices, description.unavailable);
  check_backend(*backend);
  return backend;
}

// Closes all sockets before the first wait, so that the processes end in parallel.
void IsolatedPlugins::finish() {
  for (const auto& [file, process] : processes_) process->finish();
  for (const auto& [file, process] : processes_) process->wait_for_end();
}

std::vector<machine::OpenmpRuntime> IsolatedPlugins::openmp_runtimes() const {
  std::vector<machine::OpenmpRuntime> all;
  for (const auto& [file, process] : processes_) {
    if (!process->described()) continue;
    for (const machine::OpenmpRuntime& runtime : process->description().openmp_runtimes) {
      const bool known = std::any_of(all.begin(), all.end(),
                                     [&](const auto& other) { return other.path == runtime.path; });
      if (!known) all.push_back(runtime);
    }
  }
  return all;
}

}  // namespace lloyd::isolated
