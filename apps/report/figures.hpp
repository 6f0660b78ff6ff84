// The figures of a report's page as SVG files, drawn by a headless browser.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace lloyd::report {

/// The path of a Chromium: the environment variable CHROMIUM, else the first of chromium,
/// chromium-browser, google-chrome and google-chrome-stable in PATH. Throws InputError, which says
/// what to install, if there is none.
std::filesystem::path find_browser();

/// Draws a page of report_page() in the browser, without network access. Returns the SVG document
/// of each figure by the figure's id. Throws Error if the browser fails or takes longer than two
/// minutes, and Cancelled once interrupted().
std::map<std::string, std::string> draw_figures(const std::filesystem::path& browser,
                                                const std::string& page);

/// Reads the figures from the document that the browser prints for the address `#figures` of the
/// page. Throws Error if there are none.
std::map<std::string, std::string> parse_figures(const std::string& dom);

}  // namespace lloyd::report
