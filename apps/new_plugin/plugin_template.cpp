#include "new_plugin/plugin_template.hpp"

namespace lloyd::apps {
namespace {

// The template builds unchanged, so its placeholders are valid names.
constexpr std::string_view kName = "plugin-template";
constexpr std::string_view kLloyd = "/path/to/lloyd";

}  // namespace

std::string fill_template(std::string_view text, std::string_view name, std::string_view lloyd) {
  std::string filled;
  while (!text.empty()) {
    if (text.starts_with(kName)) {
      filled += name;
      text.remove_prefix(kName.size());
    } else if (text.starts_with(kLloyd)) {
      filled += lloyd;
      text.remove_prefix(kLloyd.size());
    } else {
      filled += text.front();
      text.remove_prefix(1);
    }
  }
  return filled;
}

}  // namespace lloyd::apps
