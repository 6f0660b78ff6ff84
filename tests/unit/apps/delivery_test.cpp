// Delivery: a reader that is gone.
#include <signal.h>
#include <unistd.h>

#include <new>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "ipc/descriptor.hpp"
#include "output/delivery.hpp"
#include "output/foreign_output.hpp"
#include "output/result_stream.hpp"

namespace lloyd::apps {
namespace {

// In a process of its own, which writes results to a pipe without a reader: 0 if the signal
// SIGPIPE keeps its default action while they are printed, and ends the process in finish() alone.
int print_without_reader(bool fails_too) {
  ::signal(SIGPIPE, SIG_DFL);
  auto [reader, writer] = make_pipe();
  reader.close();
  ::dup2(writer.get(), STDOUT_FILENO);
  Delivery delivery;
  bool is_default = false;
  delivery.print([&] {
    struct sigaction action = {};
    ::sigaction(SIGPIPE, nullptr, &action);
    is_default = action.sa_handler == SIG_DFL;
    write_result("result\n");
  });
  if (!is_default) return 3;
  if (fails_too) delivery.print([] { throw std::bad_alloc(); });
  try {
    delivery.finish();
  } catch (const Error&) {
    return 4;
  }
  return 5;
}

TEST(Delivery, LeavesSigpipeAloneUntilItFinishes) {
  EXPECT_EXIT(::_exit(print_without_reader(false)), testing::KilledBySignal(SIGPIPE), "");
  EXPECT_EXIT(::_exit(print_without_reader(true)), testing::ExitedWithCode(4), "");
}

TEST(Delivery, ALostReaderEndsOtherPrinting) {
  EXPECT_EXIT(
      {
        print_without_reader(true);
        write_result("more");
        flush_results();
      },
      testing::KilledBySignal(SIGPIPE), "");
}

}  // namespace
}  // namespace lloyd::apps
