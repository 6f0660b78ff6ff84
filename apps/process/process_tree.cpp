#include "process/process_tree.hpp"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace lloyd::apps {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
struct Process {
  pid_t parent = 0;
  char state = 0;

  bool zombie() const { return state == 'Z' || state == 'X'; }
};

// Parses the file /proc/PID/stat or /proc/PID/task/TID/stat: "12 (name) S 1 ..."; the name may
// contain blanks and parentheses. Returns false if the process has ended.
bool read_process(const std::string& path, Process& process) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text, '\0');  // the whole file; empty if the process has just ended
  const std::size_t end = text.rfind(") ");
  if (end == std::string::npos) return false;
  std::istringstream rest(text.substr(end + 2));
  char state = 0;
  int parent = 0;
  if (!(rest >> state >> parent)) return false;
  process = {parent, state};
  return true;
}

// The numeric entries of a folder.
std::vector<pid_t> numbers_in(const std::string& path) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(path.c_str()));
  if (folder == nullptr) return numbers;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const std::string_view name(entry->d_name);
    pid_t number = 0;  // stays 0 if the name is not a number
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number > 0) numbers.push_back(number);
  }
  return numbers;
}

std::map<pid_t, Process> all_processes() {
  std::map<pid_t, Process> processes;
  for (const pid_t pid : numbers_in("/proc")) {
    Process process;
    if (read_process(fmt::format("/proc/{}/stat", pid), process)) processes[pid] = process;
  }
  return processes;
}

// Children of a process, including zombies. Takes microseconds. No value if the kernel does not
// provide the list.
std::optional<std::vector<pid_t>> listed_children(pid_t parent) {
  std::vector<pid_t> children;
  for (const pid_t thread : numbers_in(fmt::format("/proc/{}/task", parent))) {
    std::ifstream file(fmt::format("/proc/{}/task/{}/children", parent, thread));
    if (!file) return std::nullopt;
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

using Clock = std::chrono::steady_clock;

// Time that processes are given to end after SIGKILL.
constexpr Clock::duration kKillGrace = std::chrono::seconds(2);

// Kills the children of `ancestor` until no new one appears. A scan of all of /proc can miss a
// process that forks its successor and exits within a millisecond; that successor becomes a child
// of `ancestor` if `ancestor` is a subreaper.
void kill_children(pid_t ancestor, const std::set<pid_t>& spared, Clock::time_point deadline) {
  std::set<pid_t> killed;
  bool more = true;
  while (more && Clock::now() < deadline) {
    more = false;
    const auto children = listed_children(ancestor);
    if (!children) return;
    for (const pid_t child : *children) {
      if (spared.contains(child)) continue;
      ::kill(child, SIGKILL);
      more = killed.insert(child).second || more;
    }
  }
}

// The process that called adopt_orphans(); 0: none. Differs from getpid() in a forked child.
pid_t adopting_process = 0;

struct Descendants {
  std::vector<pid_t> living;
  std::vector<pid_t> zombies;
};

Descendants find_descendants(pid_t ancestor, const std::set<pid_t>& spared = {}) {
  const std::map<pid_t, Process> processes = all_processes();
  std::multimap<pid_t, pid_t> children;
  for (const auto& [pid, process] : processes) children.emplace(process.parent, pid);
  Descendants found;
  std::vector<pid_t> parents = {ancestor};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    const auto [first, last] = children.equal_range(parent);
    parents.pop_back();
    for (auto child = first; child != last; ++child) {
      if (parent == ancestor && spared.contains(child->second)) continue;
      parents.push_back(child->second);
      (processes.at(child->second).zombie() ? found.zombies : found.living)
          .push_back(child->second);
    }
  }
  std::sort(found.zombies.begin(), found.zombies.end());
  return found;
}

// Kills all descendants of `ancestor`, see kill_descendants(). Returns false if some were left at
// the deadline.
bool kill_descendants_until(Clock::time_point deadline, pid_t ancestor,
                            const std::set<pid_t>& spared) {
  // Avoids the scan of /proc, which takes milliseconds.
  if (ancestor == ::getpid() && !has_children()) return true;
  std::vector<pid_t> known_zombies;
  for (;;) {
    kill_children(ancestor, spared, deadline);
    Descendants found = find_descendants(ancestor, spared);
    for (const pid_t pid : found.living) ::kill(pid, SIGKILL);
    // A process that became a zombie during the scan may have forked before it ended: scan again
    // until the zombies are the same.
    if (found.living.empty() && found.zombies == known_zombies) return true;
    if (Clock::now() >= deadline) return false;
    known_zombies = std::move(found.zombies);
    if (!found.living.empty()) ::poll(nullptr, 0, 1);
  }
}

}  // namespace

bool has_children() {
  siginfo_t info{};
  const int options = WEXITED | WSTOPPED | WNOHANG | WNOWAIT;
  return ::waitid(P_ALL, 0, &info, options) == 0 || errno != ECHILD;
}

bool sleeps_uninterruptibly(pid_t process) {
  const std::vector<pid_t> threads = numbers_in(fmt::format("/proc/{}/task", process));
  return std::any_of(threads.begin(), threads.end(), [&](pid_t thread) {
    Process read;
    return read_process(fmt::format("/proc/{}/task/{}/stat", process, thread), read) &&
           read.state == 'D';
  });
}

std::vector<pid_t> descendants_of(pid_t ancestor) {
  return find_descendants(ancestor).living;
}

void kill_descendants(pid_t ancestor, const std::set<pid_t>& spared) {
  kill_descendants_until(Clock::now() + kKillGrace, ancestor, spared);
}

bool can_adopt_orphans() {
  return ::getpid() != 1 && (!has_children() || adopting_process == ::getpid());
}

void adopt_orphans() {
  if (!can_adopt_orphans() || ::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return;
  adopting_process = ::getpid();
}

void kill_orphans(const std::set<pid_t>& own) {
  if (adopting_process != ::getpid() || !has_children()) return;
  const auto children = listed_children(::getpid());
  const auto is_own = [&](pid_t child) { return own.contains(child); };
  if (children && std::all_of(children->begin(), children->end(), is_own)) return;
  // Orphans that cannot be killed share one grace period: this is called after every process.
  constexpr Clock::duration kMinGrace = std::chrono::milliseconds(50);
  static Clock::duration grace = kKillGrace;
  const Clock::time_point begin = Clock::now();
  if (!kill_descendants_until(begin + grace, ::getpid(), own)) {
    grace = std::max(kMinGrace, grace - (Clock::now() - begin));
  }
  for (const pid_t zombie : find_descendants(::getpid(), own).zombies) {
    ::waitpid(zombie, nullptr, WNOHANG);  // otherwise zombies accumulate in a long run
  }
}

}  // namespace lloyd::apps
