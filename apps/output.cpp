#include "output.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/error.hpp>

namespace lloyd::apps {

void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

namespace {

bool same_place(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;
  const auto place = [&error](const std::filesystem::path& file) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(file, error), error);
  };
  return place(a) == place(b);
}

}  // namespace

void check_not_input(const std::filesystem::path& file, const std::filesystem::path& input) {
  if (file.empty() || input.empty() || !same_place(file, input)) return;
  throw InputError(fmt::format("{} is read, so it cannot be written too", file.string()));
}

void check_output(const std::filesystem::path& file, std::initializer_list<const char*> extensions,
                  std::initializer_list<std::filesystem::path> others) {
  if (file.empty()) return;
  if (std::find(extensions.begin(), extensions.end(), file.extension()) == extensions.end()) {
    throw InputError(fmt::format("{}: the extension '{}' is unknown; {} can be written",
                                 file.string(), file.extension().string(),
                                 fmt::join(extensions, " or ")));
  }
  std::error_code error;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, error)) {
    throw InputError(
        fmt::format("{} cannot be written: {} is not a folder", file.string(), folder.string()));
  }
  if (std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error)) {
    throw InputError(
        fmt::format("{} cannot be written: it exists and is not a regular file", file.string()));
  }
  for (const std::filesystem::path& other : others) {
    if (!other.empty() && same_place(other, file)) {
      throw InputError(fmt::format("{} is named as the output of two things", file.string()));
    }
  }
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
