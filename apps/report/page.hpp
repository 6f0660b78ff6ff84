// report_page: a self-contained HTML file.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace lloyd::report {

/// A file of apps/report/page/, D3, or D3's licence, or a piece of one. Pieces of a file have the
/// same name and are consecutive.
struct PageFile {
  std::string_view name;
  std::string_view text;
};

/// All files, unchanged; empty in a build without D3. Defined in a source that CMake generates.
std::span<const PageFile> page_files();

/// Throws InputError if `files` is empty: the build has no HTML report.
void require_page(std::span<const PageFile> files = page_files());

/// Expands `page.html`: `{{name}}` becomes the file of that name, `{{title}}` and `{{data}}` become
/// the escaped title and data. Throws InputError as require_page() does.
std::string report_page(std::string_view title, const nlohmann::ordered_json& data);

/// Escapes a text for use between tags and in attributes.
std::string escape_html(std::string_view text);
/// Serializes JSON for a script element, with '<' escaped. Bytes that are not UTF-8 are replaced.
std::string script_json(const nlohmann::ordered_json& data);

}  // namespace lloyd::report
