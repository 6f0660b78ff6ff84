#include "verify/plugin_trial.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/process_state.hpp>
#include <lloyd/registry.hpp>

#include "conformance/support/caught_output.hpp"
#include "ipc/last_words.hpp"
#include "supervision/supervised_backend.hpp"
#include "verify/conformance_json.hpp"

namespace lloyd::apps {
namespace {

using Json = nlohmann::ordered_json;
using Event = ChildProcess::Event;

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Throws Error if loading the plugin changes the state of the process or prints to standard output.
std::unique_ptr<LoadedBackend> load_and_check(const std::filesystem::path& file,
                                              SupervisionBoard& board) {
  conformance::CaughtOutput caught;
  const ProcessState before;
  std::unique_ptr<LoadedBackend> backend = load_marked(file, board);
  const std::string change = before.first_change();
  before.restore();
  if (!change.empty()) {
    throw Error(
        fmt::format("the plugin changes {} when it is loaded, in a constructor, probe() or "
                    "create()",
                    change));
  }
  const std::string text = caught.end();
  if (text.empty()) return backend;
  throw Error(fmt::format("the plugin prints to standard output when it is loaded: '{}'",
                          printable(conformance::beginning(text))));
}

// Captures what the backend prints to standard output, and passes it on to standard error.
class PrintedText {
 public:
  // A sentence about what was printed since the last call; empty if nothing was.
  std::string failure() {
    const std::string text = caught_.take();
    if (text.empty()) return {};
    std::fwrite(text.data(), 1, text.size(), stderr);
    return fmt::format("the backend prints to standard output: '{}'",
                       printable(conformance::beginning(text)));
  }

 private:
  conformance::CaughtOutput caught_;
};

void report_cases(const LoadedBackend& backend, const std::string& glob, std::size_t first,
                  PrintedText& printed, SupervisionBoard& board,
                  const ChildProcess::Reporter& report) {
  const auto report_setting = [&](const std::string& setting) { board.setting.set(setting); };
  const conformance::Suite suite(backend, glob);
  report(line_of({{"plan", to_json(suite.plan())}}));
  if (!backend.available()) return;
  for (std::size_t index = first; index < suite.plan().cases.size(); ++index) {
    report.await_turn();
    conformance::Result result = suite.run(index, report_setting);
    std::string failure = printed.failure();
    if (!failure.empty() && result.outcome != conformance::Outcome::failed) {
      result.outcome = conformance::Outcome::failed;
      result.message = std::move(failure);
    }
    // JSON cannot have bytes that are no UTF-8, as a message may after the heap was corrupted.
    result.message = escaped(result.message);
    report(line_of(to_json(result)));
  }
}

// The child's last line, after the backend has been released.
constexpr std::string_view kReleased = R"({"released":true})";

// Body of the child. Reports one line with the plan, or with the error instead, one line for each
// result, and kReleased or an error. What the plugin prints later, when the process ends, goes to
// the descriptor `end_output`.
int run_cases(const std::filesystem::path& file, const std::string& glob, std::size_t first,
              SupervisionBoard& board, int end_output, const ChildProcess::Reporter& report) {
  try {
    std::unique_ptr<LoadedBackend> backend = load_and_check(file, board);
    PrintedText printed;
    report_cases(*backend, glob, first, printed, board, report);
    backend.reset();
    const std::string failure = printed.failure();
    report(failure.empty() ? std::string(kReleased) : line_of({{"failed", failure}}));
  } catch (const InputError& refusal) {
    report(line_of({{"refused", escaped(refusal.what())}}));
  } catch (const std::bad_alloc&) {
    report(line_of({{"failed", "the process of the plugin is out of memory"}}));
  } catch (const std::exception& error) {
    report(line_of({{"failed", escaped(error.what())}}));
  }
  std::fflush(stdout);
  ::dup2(end_output, STDOUT_FILENO);
  return 0;
}

// The beginning of a file in memory; empty if it cannot be read.
std::string beginning_of(int file) {
  char text[256];
  const ssize_t size = ::pread(file, text, sizeof(text), 0);
  return size <= 0 ? std::string() : std::string(text, static_cast<std::size_t>(size));
}

}  // namespace

PluginTrial::PluginTrial(std::filesystem::path file, std::string glob, std::chrono::seconds limit,
                         std::function<bool()> stop)
    : file_(std::move(file)), glob_(std::move(glob)), limit_(limit), stop_(std::move(stop)) {}

Event PluginTrial::wait() {
  return child_->wait(ChildProcess::Clock::now() + limit_, stop_);
}

// Ends the process, which did not report as expected, and returns the sentence that says why.
// Throws Cancelled if stopped.
std::string PluginTrial::lost(Event event) {
  const auto child = std::move(child_);
  const std::string setting = board_.setting.get();
  const std::string during = setting.empty() ? setting : printable(setting) + ": ";
  switch (event) {
    case Event::line:
      return fmt::format("the process of the plugin sent an unexpected report: {}",
                         printable(child->line().substr(0, 80)));
    case Event::ended:
      if (child->lost_pipe()) {
        return "the plugin has closed descriptors that it did not open, and with them the pipe of "
               "its process";
      }
      return with_last_words(fmt::format("{}the plugin ended the process: {}{}", during,
                                         child->end().text(), place_of(board_.call())),
                             child->last_words());
    case Event::timed_out:
      ++timeouts_;
      return with_last_words(fmt::format("{}it took longer than {} s{}", during, limit_.count(),
                                         place_of(board_.call())),
                             child->last_words());
    case Event::stopped:
      break;
  }
  throw Cancelled();
}

// Starts a new child that begins with case `first`, and sets `plan` from its report. Returns an
// empty text on success, else one sentence.
std::string PluginTrial::start(std::size_t first, conformance::Plan& plan) {
  board_.clear_calls();
  board_.setting.set({});
  end_output_ = Descriptor(::memfd_create("lloyd-output", MFD_CLOEXEC));
  child_ = std::make_unique<ChildProcess>([&](const ChildProcess::Reporter& report) {
    return run_cases(file_, glob_, first, board_, end_output_.get(), report);
  });
  const Event event = wait();
  if (event != Event::line) return lost(event);
  try {
    const Json answer = Json::parse(child_->line());
    if (answer.contains("refused")) throw InputError(answer["refused"].get<std::string>());
    if (answer.contains("failed")) {
      child_.reset();
      return answer["failed"].get<std::string>();
    }
    plan = plan_from_json(answer.at("plan"));
    return {};
  } catch (const Json::exception&) {
    return lost(event);
  }
}

std::string PluginTrial::load() {
  return start(0, plan_);
}

std::string PluginTrial::start_again(std::size_t first) {
  try {
    conformance::Plan same;
    const std::string failure = start(first, same);
    return failure.empty() ? failure : "the plugin could not be loaded again: " + failure;
  } catch (const InputError& refusal) {
    child_.reset();
    return fmt::format("the plugin was refused when it was loaded again: {}", refusal.what());
  }
}

std::string PluginTrial::receive(conformance::Result& result) {
  child_->forget_words();  // those of earlier cases
  child_->resume();
  const Event event = wait();
  if (event != Event::line) return lost(event);
  try {
    conformance::Result received = result_from_json(Json::parse(child_->line()));
    if (received.name != result.name) return lost(event);
    result = std::move(received);
    return {};
  } catch (const Json::exception&) {
    return lost(event);
  }
}

std::optional<conformance::Result> PluginTrial::run(std::size_t index) {
  using std::chrono::duration;
  conformance::Result result;
  result.name = plan_.cases[index].name;
  const auto began = ChildProcess::Clock::now();
  try {
    std::string failure = child_ == nullptr ? start_again(index) : std::string();
    if (failure.empty()) failure = receive(result);
    if (failure.empty()) return result;
    result.outcome = conformance::Outcome::failed;
    result.message = std::move(failure);
    result.elapsed_ms = duration<double, std::milli>(ChildProcess::Clock::now() - began).count();
    return result;
  } catch (const Cancelled&) {
    return std::nullopt;
  }
}

std::string PluginTrial::finish() {
  if (child_ == nullptr) return {};
  Event event = wait();
  const bool released = event == Event::line && child_->line() == kReleased;
  if (released) event = wait();
  if (event == Event::stopped) return {};
  if (released && event == Event::ended && child_->end().clean()) {
    const std::string text = beginning_of(end_output_.get());
    if (text.empty()) return {};
    return fmt::format("the plugin prints to standard output when the process ends: '{}'",
                       printable(conformance::beginning(text)));
  }
  if (!released && event == Event::line) {
    const Json answer = Json::parse(child_->line(), nullptr, false);
    if (answer.contains("failed") && answer["failed"].is_string()) {
      const auto child = std::move(child_);
      return "when the backend was released: " + answer["failed"].get<std::string>();
    }
  }
  const std::string failure = lost(event);
  return released ? failure : "when the backend was released: " + failure;
}

}  // namespace lloyd::apps
