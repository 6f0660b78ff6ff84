#include "report/page.hpp"

#include <map>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::report {

std::string escape_html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string script_json(const nlohmann::ordered_json& data) {
  // '<' occurs in JSON strings only, in which the escape is equivalent.
  std::string result;
  for (const char c : data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

void require_page(std::span<const PageFile> files) {
  if (!files.empty()) return;
  throw InputError(
      "this build has no HTML report, since D3 was not found when it was configured: install the "
      "package node-d3 and build Lloyd again");
}

std::string report_page(std::string_view title, const nlohmann::ordered_json& data) {
  require_page();
  std::map<std::string, std::string, std::less<>> parts;
  for (const PageFile& file : page_files()) parts[std::string(file.name)] += file.text;
  const std::string page = parts.at("page.html");
  parts["title"] = escape_html(title);
  parts["data"] = script_json(data);

  std::string result;
  std::size_t at = 0;
  for (std::size_t begin; (begin = page.find("{{", at)) != std::string::npos;) {
    const std::size_t end = page.find("}}", begin);
    const std::string name = page.substr(begin + 2, end - begin - 2);
    const auto part = parts.find(name);
    if (part == parts.end()) throw Error(fmt::format("the page has no part '{}'", name));
    result += page.substr(at, begin - at) + part->second;
    at = end + 2;
  }
  return result + page.substr(at);
}

}  // namespace lloyd::report
