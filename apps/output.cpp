#include "output.hpp"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>

#include "file_identity.hpp"

namespace lloyd::apps {

void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void check_extension(const std::filesystem::path& file,
                     std::initializer_list<const char*> extensions) {
  if (file.empty()) return;
  const std::string extension = small_extension(file);
  if (std::find(extensions.begin(), extensions.end(), extension) != extensions.end()) return;
  throw InputError(fmt::format("{}: the extension '{}' is unknown; {} can be written",
                               file.string(), file.extension().string(),
                               fmt::join(extensions, " or ")));
}

void refuse_overwriting(const std::vector<std::filesystem::path>& outputs,
                        const std::vector<std::filesystem::path>& inputs) {
  const FileIdentity printed = identify(STDOUT_FILENO);
  const FileIdentity noted = identify(::fileno(message_stream()));
  std::vector<FileIdentity> read;
  for (const std::filesystem::path& input : inputs) {
    std::error_code error;
    // One that is not there, or cannot be reached, is refused where it is read.
    if (input.empty() || !std::filesystem::exists(input, error)) continue;
    read.push_back(identify(input));
    if (read.back() == printed || read.back() == noted) {
      throw InputError(
          fmt::format("standard {} goes to {}, which is read, so it cannot be written too",
                      read.back() == printed ? "output" : "error", input.string()));
    }
  }
  std::vector<FileIdentity> written = {printed, noted};
  for (const std::filesystem::path& output : outputs) {
    if (output.empty()) continue;
    const FileIdentity file = identify(output);
    if (std::find(read.begin(), read.end(), file) != read.end()) {
      throw InputError(fmt::format("{} is read, so it cannot be written too", output.string()));
    }
    if (std::find(written.begin(), written.end(), file) != written.end()) {
      throw InputError(fmt::format("{} is named as the output of two things", output.string()));
    }
    written.push_back(file);
  }
}

void try_outputs(const std::vector<std::filesystem::path>& outputs) {
  for (const std::filesystem::path& output : outputs) {
    if (!output.empty()) const NewFile attempt(output);
  }
}

std::filesystem::path absolute_path(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::path path = file.empty() ? file : std::filesystem::absolute(file, error);
  if (error) {
    throw InputError(fmt::format("{} cannot be found from the working directory: {}", file.string(),
                                 error.message()));
  }
  return path;
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw InputError(
        fmt::format("cannot make the output folder {}: {}", folder.string(), error.message()));
  }
}

}  // namespace lloyd::apps
