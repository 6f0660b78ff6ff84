// Signals that arrive at the same moment on several threads.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/library_use.hpp>

#include "supervision/interrupt.hpp"

namespace lloyd::apps {
namespace {

// Each thread sends itself a signal. Runs in a child process, which the signals may end.
[[noreturn]] void signal_all_threads() {
  std::signal(SIGINT, SIG_DFL);  // the caller of the test may ignore it
  install_interrupt_handler();
  constexpr int kThreads = 4;
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&ready] {
      ++ready;
      while (ready < kThreads) continue;
      std::raise(SIGINT);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ::_exit(interrupted() ? 0 : 1);
}

TEST(Interrupt, SimultaneousSignalsAreOneRequest) {
  for (int i = 0; i < 200; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) signal_all_threads();
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_FALSE(WIFSIGNALED(status)) << "signal " << WTERMSIG(status) << " in round " << i;
    ASSERT_EQ(WEXITSTATUS(status), 0);
  }
}

TEST(Interrupt, IgnoredSignalsStayIgnored) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal, SIG_IGN);
    install_cleanup_handler();
    install_interrupt_handler();
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::raise(signal);
    ::_exit(interrupted() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_FALSE(WIFSIGNALED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Interrupt, CrashInALibraryThatWritesAFileNamesTheFile) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    install_cleanup_handler();
    install_interrupt_handler();
    const LibraryUse writing(FileUse::writing, "out.h5");
    std::abort();
  }
  ::close(ends[1]);
  std::string text;
  char byte = 0;
  while (::read(ends[0], &byte, 1) == 1) text += byte;
  ::close(ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_FALSE(WIFSIGNALED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(text, "lloyd: out.h5: the library that writes the file crashed; memory may be short\n");
}

}  // namespace
}  // namespace lloyd::apps
