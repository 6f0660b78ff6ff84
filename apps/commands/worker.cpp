// lloyd worker: runs trials for `lloyd run`, describes a plugin for any command, or becomes an
// external program. Internal: started by Lloyd only.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <lloyd/error.hpp>

#include "commands/commands.hpp"
#include "experiment/worker/worker_protocol.hpp"
#include "experiment/worker/worker_service.hpp"
#include "external/program.hpp"
#include "ipc/descriptor.hpp"
#include "ipc/packet_socket.hpp"
#include "isolated/service.hpp"
#include "process/sanitizer.hpp"
#include "process/supervisor.hpp"
#include "process/termination.hpp"
#include "supervision/interrupt.hpp"
#include "workers/worker_command.hpp"

namespace lloyd::apps {
namespace {

// Makes the kernel's OOM killer prefer this process to its parent.
void offer_memory_back() {
  std::FILE* const file = std::fopen("/proc/self/oom_score_adj", "we");
  if (file == nullptr) return;
  std::fputs("500", file);
  std::fclose(file);
}

// Moves the socket to a high number, which a plugin is unlikely to hit by accident (if the
// descriptor limit allows), close-on-exec so that programs started by a plugin do not inherit it.
int take_socket() {
  constexpr int kHighNumber = 200;
  const auto limit = static_cast<int>(std::min<std::int64_t>(descriptor_limit(), 2 * kHighNumber));
  const int socket = ::fcntl(kWorkerSocket, F_DUPFD_CLOEXEC, limit / 2);
  if (socket < 0) {
    ::fcntl(kWorkerSocket, F_SETFD, FD_CLOEXEC);
    return kWorkerSocket;
  }
  ::close(kWorkerSocket);
  return socket;
}

struct WorkerCommand {
  pid_t parent = 0;
  bool describe = false;
  std::string program;  ///< external program to become; empty: none
  std::vector<std::string> arguments;
};

int work(const WorkerCommand& command) {
  const pid_t parent = command.parent;
  const bool describe = command.describe;
  const int socket = take_socket();
  if (!command.program.empty()) {
    offer_memory_back();
    external::become_program(socket, parent, command.program, command.arguments);
    return kFailed;
  }
  try {
    run_supervised(parent);
  } catch (const Error& error) {  // not the plugin's fault
    const std::string answer = describe ? isolated::failure_answer(error.what())
                                        : experiment::answer_failure(error.what());
    send_packet(socket, answer, {});
    return kFailed;
  }
  install_interrupt_handler_of(::getppid());
  offer_memory_back();
  // Line-buffered, so that a crash loses at most the last line of output.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  abort_after_sanitizer_report();
  describe_termination(say_to_standard_error);
  if (describe) {
    isolated::serve_plugin(socket);
  } else {
    experiment::serve_trials(socket);
  }
  return kDone;
}

}  // namespace

void add_worker_command(CLI::App& app, Context& context) {
  if (!has_worker_socket()) return;  // typed by a user: an unknown command
  CLI::App* const sub = app.add_subcommand("worker", "Serve another process of lloyd");
  sub->group("");  // not listed
  const auto command = std::make_shared<WorkerCommand>();
  sub->add_option("--parent", command->parent)->required();
  sub->add_flag("--describe", command->describe);
  sub->add_option("--program", command->program);
  sub->add_option("--argument", command->arguments);
  sub->callback([&context, command] { context.action = [command] { return work(*command); }; });
}

}  // namespace lloyd::apps
