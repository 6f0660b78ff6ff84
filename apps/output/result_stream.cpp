#include "output/result_stream.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "ipc/descriptor.hpp"
#include "output/reader.hpp"

namespace lloyd::apps {
namespace {

constexpr std::size_t kMaxKept = std::size_t{1} << 16;  // bytes
// Time for a slow reader after a stop request.
constexpr std::chrono::seconds kReaderGrace{1};

int results = STDOUT_FILENO;
std::string kept;
bool reader_loss_is_error = false;

}  // namespace

int result_descriptor() noexcept {
  return results;
}

void keep_results_apart() {
  const int copy = copy_to_high_number(STDOUT_FILENO);
  if (copy < 0) {
    throw Error(fmt::format("cannot duplicate standard output: {}", descriptor_error(errno)));
  }
  results = copy;
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

void write_result(std::string_view text) {
  kept += text;
  if (kept.size() > kMaxKept) flush_results();
}

void flush_results() {
  const std::string text = std::exchange(kept, {});
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = write_to_reader(results, rest, kReaderGrace);
    if (written == 0) throw Error("interrupted before the whole result was printed");
    if (written < 0) {
      if (errno == EPIPE && !reader_loss_is_error) {
        ::raise(SIGPIPE);  // the default of programs that print
        errno = EPIPE;
      }
      throw std::system_error(errno, std::generic_category(), "standard output cannot be written");
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

ReaderLossAsError::ReaderLossAsError() : former_(std::exchange(reader_loss_is_error, true)) {}

ReaderLossAsError::~ReaderLossAsError() {
  reader_loss_is_error = former_;
}

}  // namespace lloyd::apps
