#include "external/launched_program.hpp"

#include <poll.h>
#include <signal.h>

#include <algorithm>

#include "external/program.hpp"
#include "ipc/packet_socket.hpp"
#include "machine/processors/affinity.hpp"
#include "process/spawn.hpp"

namespace lloyd::external {

LaunchedProgram::LaunchedProgram(const std::filesystem::path& file,
                                 const std::vector<std::string>& arguments) {
  ::signal(SIGCHLD, SIG_DFL);  // with SIG_IGN, exit statuses are lost
  // A child inherits the affinity of this thread, which may have been bound since the start.
  machine::run_on(machine::processors_at_start());
  auto [started, starting] = apps::make_packet_sockets();
  {
    const apps::Descriptor output = words_.take_output();
    process_.adopt(apps::spawn(program_command(file, arguments),
                               {-1, output.get(), output.get(), starting.get()}));
  }
  starting.close();
  wait_for_start(started.get(), file, words_);
}

LaunchedProgram::~LaunchedProgram() {
  terminate();
}

LaunchedProgram::Event LaunchedProgram::wait(std::optional<Clock::time_point> deadline,
                                             const std::function<bool()>& stop) {
  using std::chrono::milliseconds;
  while (true) {
    words_.drain();
    if (process_.has_ended()) {
      words_.drain();
      return Event::ended;
    }
    if (stop && stop()) return Event::stopped;
    milliseconds slice(20);  // the end of a process is not an event of poll(2)
    if (deadline) {
      const auto left = std::chrono::ceil<milliseconds>(*deadline - Clock::now());
      if (left.count() <= 0) return Event::timed_out;
      slice = std::min(slice, left);
    }
    pollfd waited = {words_.descriptor(), POLLIN, 0};
    ::poll(&waited, 1, static_cast<int>(slice.count()));
  }
}

std::string LaunchedProgram::last_words() const {
  constexpr std::size_t kMaxWords = 300;
  return words_.text(kMaxWords);
}

void LaunchedProgram::terminate() {
  if (process_.ended() || process_.has_ended()) return;
  process_.signal(SIGTERM);
  wait(Clock::now() + kGrace, {});
  process_.kill();
}

}  // namespace lloyd::external
