#include "report/figures.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/descriptors.hpp>
#include <lloyd/internal/shown.hpp>

#include "ipc/descriptor.hpp"
#include "process/scratch_folder.hpp"
#include "process/spawn.hpp"
#include "process/spawned_process.hpp"
#include "process/stop_request.hpp"
#include "workers/find_program.hpp"

namespace lloyd::report {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 4> kBrowsers = {"chromium", "chromium-browser", "google-chrome",
                                                  "google-chrome-stable"};
constexpr std::chrono::minutes kTimeLimit{2};

apps::Descriptor create_file(const fs::path& file) {
  apps::Descriptor created(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  if (!created) throw Error(fmt::format("{}: {}", file.string(), descriptor_error(errno)));
  return created;
}

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The last line of the browser's messages that is not empty.
std::string last_message(const fs::path& log) {
  constexpr std::size_t kMaxBytes = 300;
  std::string text = read_file(log);
  text.erase(text.find_last_not_of('\n') + 1);
  text.erase(0, text.find_last_of('\n') + 1);
  return text.empty() ? "without a message" : text.substr(0, kMaxBytes);
}

}  // namespace

fs::path find_browser() {
  if (const char* const named = std::getenv("CHROMIUM"); named != nullptr && *named != '\0') {
    fs::path file = apps::find_program(named);
    if (!file.empty()) return file;
    throw InputError(fmt::format(
        "the environment variable CHROMIUM is '{}', which is no program that can be run",
        shown(named)));
  }
  for (const char* name : kBrowsers) {
    fs::path file = apps::find_program(name);
    if (!file.empty()) return file;
  }
  throw InputError(
      "--figures needs a headless browser, and neither chromium nor google-chrome is in PATH: "
      "install the package chromium, or name a browser in the environment variable CHROMIUM");
}

std::map<std::string, std::string> draw_figures(const fs::path& browser, const std::string& page) {
  const apps::ScratchFolder scratch;
  const fs::path file = scratch / "page.html";
  const fs::path log = scratch / "log";
  const fs::path dom = scratch / "dom";
  NewFile output(file);
  output.write(page);
  output.commit();
  // The sandbox needs rights that containers lack. It protects against foreign pages, and this one
  // is our own.
  const std::vector<std::string> command = {
      browser.string(),
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--disable-extensions",
      "--disable-background-networking",
      "--disable-component-update",
      "--hide-scrollbars",
      "--window-size=1120,900",
      fmt::format("--user-data-dir={}", (scratch / "profile").string()),
      "--dump-dom",
      fmt::format("file://{}#figures", file.string())};
  apps::SpawnedProcess process(apps::SpawnedProcess::Reach::group);
  {
    const apps::Descriptor written = create_file(dom);
    const apps::Descriptor messages = create_file(log);
    process.adopt(apps::spawn(command, {-1, written.get(), messages.get()}));
  }
  const auto deadline = std::chrono::steady_clock::now() + kTimeLimit;
  while (!process.has_ended()) {
    if (apps::interrupted()) throw Cancelled();
    if (std::chrono::steady_clock::now() > deadline) {
      throw Error(fmt::format("{} has not drawn the figures after 2 minutes", browser.string()));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (!process.end().clean()) {
    throw Error(fmt::format("{} ended by {} instead of drawing the figures: {}", browser.string(),
                            process.end().text(), last_message(log)));
  }
  return parse_figures(read_file(dom));
}

std::map<std::string, std::string> parse_figures(const std::string& dom) {
  constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"figures\">";
  const std::size_t begin = dom.find(kBegin);
  const std::size_t end = dom.find("</script>", begin);
  if (begin == std::string::npos || end == std::string::npos) {
    throw Error("the browser has not drawn the figures of the page");
  }
  const std::string text = dom.substr(begin + kBegin.size(), end - begin - kBegin.size());
  const auto json = nlohmann::json::parse(text, nullptr, false);
  std::map<std::string, std::string> figures;
  if (json.is_object()) {
    for (const auto& [id, svg] : json.items()) {
      if (svg.is_string()) figures[id] = svg.get<std::string>();
    }
  }
  if (figures.empty()) throw Error("the page has no figures");
  return figures;
}

}  // namespace lloyd::report
