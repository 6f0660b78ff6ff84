#include "isolated/plugin_process.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "isolated/service.hpp"
#include "workers/worker_command.hpp"

namespace lloyd::isolated {

using apps::WorkerProcess;

namespace {

// When a plugin fails: before its first stage, then the stages of LoadingStage.
constexpr std::array<std::string_view, 5> kStages = {"before it was loaded", "while it was loaded",
                                                     "in probe()", "in create()", "in info()"};

// The answer that announces a stage of kStages.
std::string stage_answer(std::size_t stage) {
  return static_cast<char>(LoadOutcome::stage) + std::to_string(stage - 1);
}

}  // namespace

PluginProcess::PluginProcess(std::filesystem::path file, std::chrono::seconds limit)
    : file_(std::move(file)),
      limit_(limit),
      process_(std::in_place, apps::worker_command({"--describe"}), apps::kWorkerSocket),
      deadline_(WorkerProcess::Clock::now() + limit) {
  process_->send(file_.string());
}

PluginProcess::Event PluginProcess::wait() {
  WorkerProcess::Limits limits;
  limits.deadline = deadline_;
  return process_->wait(limits);
}

// Kills the process, which did not answer as expected, and returns the sentence that says why.
std::string PluginProcess::lost(Event event, std::string_view during) {
  const bool ended = event == Event::ended;
  const bool socket_lost =
      ended && !process_->end().signalled && process_->end().code == kSocketLost;
  std::string text;
  if (ended && !socket_lost) {
    text =
        fmt::format("{} ended its process {}: {}", file_.string(), during, process_->end().text());
  } else if (event == Event::timed_out) {
    text = fmt::format("{} did not answer within {} s {}; --plugin-timeout gives it longer",
                       file_.string(), limit_.count(), during);
  } else if (event == Event::answer) {
    text = fmt::format("{} sent an unexpected answer {}", file_.string(), during);
  } else {
    text = fmt::format("{} closed the socket of its process {}", file_.string(), during);
  }
  const std::string words = process_->last_words();
  process_->kill();
  return words.empty() ? text : fmt::format("{}; last words: {}", text, words);
}

void PluginProcess::receive_description() {
  Event event = wait();
  // The plugin could send stages too; each is accepted once.
  std::size_t stage = 0;
  while (stage + 1 < kStages.size() && event == Event::answer &&
         process_->answer() == stage_answer(stage + 1)) {
    ++stage;
    event = wait();
  }
  const std::string_view during = kStages[stage];
  if (event != Event::answer) {
    refusal_ = lost(event, during);
    return;
  }
  const std::string_view answer = process_->answer();
  const char outcome = answer.empty() ? '\0' : answer.front();
  const std::string_view content = answer.substr(answer.empty() ? 0 : 1);
  if (outcome == static_cast<char>(LoadOutcome::refused)) {
    refusal_ = content;
  } else if (outcome == static_cast<char>(LoadOutcome::failed)) {
    throw Error(fmt::format("{} could not be examined: {}", file_.string(), content));
  } else if (outcome == static_cast<char>(LoadOutcome::described)) {
    try {
      description_.emplace(content);
    } catch (const InputError&) {
      refusal_ = lost(event, during);
    }
  } else {
    refusal_ = lost(event, during);
  }
}

const Description& PluginProcess::description() {
  if (!description_ && refusal_.empty()) receive_description();
  if (!description_) throw InputError(refusal_);
  return *description_;
}

Reply PluginProcess::ask(const Question& question, const ParameterList& parameters) {
  const std::lock_guard lock(mutex_);
  Reply reply;
  if (failure_.empty()) {
    process_->send(encode_question(question, parameters));
    deadline_ = WorkerProcess::Clock::now() + limit_;
    const Event event = wait();
    try {
      if (event == Event::answer) return decode_reply(process_->answer());
    } catch (const InputError&) {
    }
    failure_ =
        lost(event, question.kind == QuestionKind::supports ? "in supports()" : "in estimate()");
  }
  reply.status = Status::error(StatusCode::internal, failure_);
  return reply;
}

void PluginProcess::finish() {
  const std::lock_guard lock(mutex_);
  if (process_) process_->hang_up();
  if (failure_.empty()) failure_ = "its process has been ended";
}

void PluginProcess::wait_for_end() {
  finish();
  const std::lock_guard lock(mutex_);
  process_.reset();
}

}  // namespace lloyd::isolated
