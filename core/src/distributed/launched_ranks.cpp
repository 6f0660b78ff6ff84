#include <lloyd/launched_ranks.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/plugin/abi/communicator_plugin.hpp>

#include "loading/plugin_header.hpp"

namespace lloyd {
namespace {

namespace fs = std::filesystem;

constexpr PluginKind kCommunicatorPlugin = {LLOYD_COMMUNICATOR_SECTION, LLOYD_COMMUNICATOR_SYMBOL,
                                            "a communicator plugin of Lloyd", "communicator"};

std::vector<fs::path> communicator_files(const std::vector<fs::path>& folders) {
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    const auto first = static_cast<std::ptrdiff_t>(files.size());
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name.starts_with("lloyd-communicator-") && name.ends_with(".so")) {
        files.push_back(fs::absolute(entry->path()));
      }
    }
    std::sort(files.begin() + first, files.end());
  }
  return files;
}

CommunicatorHeader read_communicator_header(const fs::path& file) {
  CommunicatorHeader header{};
  read_header(file, kCommunicatorPlugin, std::as_writable_bytes(std::span(&header, 1)));
  return header;
}

std::int64_t parse_processes(const std::string& variable, std::string_view text) {
  std::int64_t processes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), processes);
  if (error == std::errc() && end == text.data() + text.size() && processes >= 1) return processes;
  throw InputError(fmt::format(
      "the environment variable {} is '{}'; a launcher sets it to its number of processes, "
      "1 or more",
      variable, printable(text)));
}

}  // namespace

std::vector<fs::path> find_communicators(const std::vector<fs::path>& folders,
                                         std::vector<RefusedPlugin>* refused) {
  std::vector<fs::path> found;
  for (const fs::path& file : communicator_files(folders)) {
    try {
      read_communicator_header(file);
      found.push_back(file);
    } catch (const InputError& refusal) {
      if (refused != nullptr) refused->push_back({file, refusal.what()});
    }
  }
  return found;
}

std::optional<LaunchedJob> find_launched_job(const std::vector<fs::path>& folders,
                                             std::vector<RefusedPlugin>* refused) {
  for (const fs::path& file : find_communicators(folders, refused)) {
    const CommunicatorHeader header = read_communicator_header(file);
    std::istringstream names(text_of_field(header.size_variables));
    for (std::string variable; names >> variable;) {
      const char* const value = std::getenv(variable.c_str());
      if (value == nullptr || *value == '\0') continue;
      const std::int64_t processes = parse_processes(variable, value);
      if (processes > 1) return LaunchedJob{file, variable, processes};
    }
  }
  return std::nullopt;
}

std::shared_ptr<Communicator> join_ranks(const LaunchedJob& job) {
  const CommunicatorHeader header = read_communicator_header(job.plugin);
  // Global scope: components that the MPI library loads later resolve symbols against it.
  const auto& descriptor = *static_cast<const CommunicatorDescriptor*>(load_descriptor(
      job.plugin, kCommunicatorPlugin, std::as_bytes(std::span(&header, 1)), /*global=*/true));
  if (descriptor.join == nullptr) {
    throw InputError(fmt::format("{}: its descriptor lacks join", job.plugin.string()));
  }
  Communicator* joined = nullptr;
  const Status status = descriptor.join(&joined);
  throw_unless_ok(job.plugin.string(), status);
  if (joined == nullptr) {
    throw BackendError(StatusCode::internal,
                       fmt::format("{}: join returned no communicator", job.plugin.string()));
  }
  std::shared_ptr<Communicator> communicator(joined, [](Communicator* one) { one->release(); });
  if (communicator->size() == job.processes) return communicator;
  throw InputError(
      fmt::format("the launcher started {} processes ({}), but {} joined through {}; the launcher "
                  "must belong to "
                  "the MPI library of that plugin (srun: choose the interface with --mpi)",
                  job.processes, job.variable, communicator->size(), job.plugin.string()));
}

}  // namespace lloyd
