// report_page: one HTML file that needs no other.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace lloyd::report {

/// A file of apps/report/page/, or D3 or its licence, or a piece of one: pieces of a file have one
/// name and follow each other.
struct PageFile {
  std::string_view name;
  std::string_view text;
};

/// All files, as they are there; none in a build without D3. Defined in a source that CMake makes
/// of them.
std::span<const PageFile> page_files();

/// Throws InputError if there are no files: this build has no page.
void require_page(std::span<const PageFile> files = page_files());

/// `page.html` with each `{{name}}` replaced by the file of that name, `{{title}}` by the title and
/// `{{data}}` by the data, both escaped. Throws InputError where require_page() does.
std::string report_page(std::string_view title, const nlohmann::ordered_json& data);

/// A text as it may stand between tags and in attributes.
std::string escape_html(std::string_view text);
/// JSON as it may stand in a script element: without '<'. Bytes that are no UTF-8 are replaced.
std::string script_json(const nlohmann::ordered_json& data);

}  // namespace lloyd::report
