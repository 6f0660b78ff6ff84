#include "output.hpp"

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::apps {

void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
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
