#include "output/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>

#include "ipc/descriptor.hpp"
#include "output/file_identity.hpp"

namespace lloyd::apps {

void print_json(const nlohmann::ordered_json& json) {
  // Escaped to ASCII: names may hold control characters beyond it.
  write_result(json.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + '\n');
}

void refuse_hyphen(const std::filesystem::path& file, const std::string& extensions) {
  if (file != "-") return;
  throw InputError(
      fmt::format("an output is '-'; it must be a file whose name ends in {}", extensions));
}

namespace {

// True for a pipe, socket or device, and for names of open streams such as /dev/stdout, which may
// be redirected to a regular file.
bool is_stream(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  return file.string().starts_with("/dev/") || std::filesystem::is_other(status);
}

}  // namespace

void check_extension(const std::filesystem::path& file,
                     std::initializer_list<const char*> extensions) {
  if (file.empty()) return;
  const std::string known = fmt::format("{}", fmt::join(extensions, " or "));
  refuse_hyphen(file, known);
  const std::string extension = lower_case_extension(file);
  if (std::find(extensions.begin(), extensions.end(), extension) != extensions.end()) return;
  if (is_stream(file)) {
    throw InputError(
        fmt::format("an output is '{}', which is not a regular file; it must be a file whose name "
                    "ends in {}",
                    file.string(), known));
  }
  throw InputError(fmt::format("{}: the extension '{}' is unknown; {} can be written",
                               file.string(), file.extension().string(), known));
}

namespace {

// If standard error is redirected to one of the files, messages must not end up in it: they go to
// standard output instead, or are dropped if that is one of the files too.
void keep_messages_out_of(const std::vector<FileIdentity>& files) {
  const auto is_named = [&](int stream) {
    const FileIdentity file = identify(stream);
    return std::find(files.begin(), files.end(), file) != files.end();
  };
  if (!is_named(STDERR_FILENO)) return;
  if (!is_named(STDOUT_FILENO)) {
    ::dup2(STDOUT_FILENO, STDERR_FILENO);
    return;
  }
  const Descriptor nothing(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  ::dup2(nothing.get(), STDERR_FILENO);
}

// Lives until the process ends.
void protect(const std::filesystem::path& input) {
  static std::vector<ProtectedFile> inputs;
  inputs.emplace_back(input);
}

}  // namespace

void refuse_overwriting(const std::vector<std::filesystem::path>& outputs,
                        const std::vector<std::filesystem::path>& inputs) {
  const FileIdentity printed = identify(result_descriptor());
  const FileIdentity noted = identify(message_descriptor());
  std::vector<FileIdentity> read;
  std::string clash;
  for (const std::filesystem::path& input : inputs) {
    std::error_code error;
    // A missing or unreachable input is reported by its reader.
    if (input.empty() || !std::filesystem::exists(input, error)) continue;
    const FileIdentity& file = read.emplace_back(identify(input));
    protect(input);
    if (clash.empty() && (file == printed || file == noted)) {
      clash = fmt::format("standard {} goes to {}, which is read, so it cannot be written too",
                          file == printed ? "output" : "error", input.string());
    }
  }
  std::vector<FileIdentity> named = read;
  for (const std::filesystem::path& output : outputs) {
    if (!output.empty()) named.push_back(identify(output));
  }
  keep_messages_out_of(named);
  if (!clash.empty()) throw InputError(clash);
  std::vector<FileIdentity> written = {printed, noted};
  for (const std::filesystem::path& output : outputs) {
    if (output.empty()) continue;
    const FileIdentity file = identify(output);
    if (std::find(read.begin(), read.end(), file) != read.end()) {
      throw InputError(fmt::format("{} is read, so it cannot be written too", output.string()));
    }
    if (std::find(written.begin(), written.end(), file) != written.end()) {
      throw InputError(fmt::format("{} is named as two outputs", output.string()));
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
