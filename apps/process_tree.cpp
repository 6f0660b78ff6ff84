#include "process_tree.hpp"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
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
  bool zombie = false;
};

// Its line in /proc is "12 (name) S 1 ...", where the name may have blanks and parentheses. False
// for a process that has ended.
bool read_process(pid_t pid, Process& process) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text, '\0');  // the whole of it; nothing where the process ends meanwhile
  const std::size_t end = text.rfind(") ");
  if (end == std::string::npos) return false;
  std::istringstream rest(text.substr(end + 2));
  char state = 0;
  int parent = 0;
  if (!(rest >> state >> parent)) return false;
  process = {parent, state == 'Z' || state == 'X'};
  return true;
}

std::map<pid_t, Process> all_processes() {
  std::map<pid_t, Process> processes;
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir("/proc"));
  if (folder == nullptr) return processes;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const std::string_view name(entry->d_name);
    pid_t pid = 0;  // stays 0 where the name is no number
    std::from_chars(name.data(), name.data() + name.size(), pid);
    Process process;
    if (pid > 0 && read_process(pid, process)) processes[pid] = process;
  }
  return processes;
}

struct Descendants {
  std::vector<pid_t> living;
  std::vector<pid_t> zombies;
};

Descendants find_descendants(pid_t ancestor) {
  const std::map<pid_t, Process> processes = all_processes();
  std::multimap<pid_t, pid_t> children;
  for (const auto& [pid, process] : processes) children.emplace(process.parent, pid);
  Descendants found;
  std::vector<pid_t> parents = {ancestor};
  while (!parents.empty()) {
    const auto [first, last] = children.equal_range(parents.back());
    parents.pop_back();
    for (auto child = first; child != last; ++child) {
      parents.push_back(child->second);
      (processes.at(child->second).zombie ? found.zombies : found.living).push_back(child->second);
    }
  }
  std::sort(found.zombies.begin(), found.zombies.end());
  return found;
}

}  // namespace

bool has_children() {
  siginfo_t info{};
  const int options = WEXITED | WSTOPPED | WNOHANG | WNOWAIT;
  return ::waitid(P_ALL, 0, &info, options) == 0 || errno != ECHILD;
}

std::vector<pid_t> descendants_of(pid_t ancestor) {
  return find_descendants(ancestor).living;
}

void kill_descendants(pid_t ancestor) {
  // Reading the whole of /proc takes milliseconds.
  if (ancestor == ::getpid() && !has_children()) return;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(2);
  std::vector<pid_t> known_zombies;
  for (;;) {
    Descendants found = find_descendants(ancestor);
    for (const pid_t pid : found.living) ::kill(pid, SIGKILL);
    // A process that was listed alive and read as a zombie may have started another one in between.
    const bool complete = found.living.empty() && found.zombies == known_zombies;
    if (complete || Clock::now() >= deadline) return;
    known_zombies = std::move(found.zombies);
    if (!found.living.empty()) ::poll(nullptr, 0, 1);
  }
}

}  // namespace lloyd::apps
