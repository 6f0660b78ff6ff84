#include "options/standard_input.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>

#include "ipc/descriptor.hpp"
#include "output/messages.hpp"

namespace lloyd::apps {
namespace {

// Reads until the block is full or standard input ends; returns the number of bytes.
std::size_t read_block(std::vector<char>& block) {
  std::size_t filled = 0;
  while (filled < block.size()) {
    const ssize_t count = ::read(STDIN_FILENO, block.data() + filled, block.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw InputError(fmt::format("standard input cannot be read: {}", descriptor_error(errno)));
    }
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

const char* extension_of_format(std::string_view bytes) {
  if (bytes.starts_with("\x93NUMPY")) return ".npy";
  if (bytes.starts_with("PK\x03\x04")) return ".npz";
  if (bytes.starts_with("\x89HDF\r\n")) return ".h5";
  if (bytes.starts_with("\x1f\x8b")) return ".csv.gz";
  return ".csv";
}

}  // namespace

StandardInput::StandardInput() {
  if (::isatty(STDIN_FILENO) != 0) {
    throw InputError(
        "'-' reads the data from standard input, which is a terminal; redirect a file "
        "or a pipe to it");
  }
  std::vector<char> block(std::size_t{1} << 20);
  std::size_t size = read_block(block);
  const std::string unique = folder_.path().filename().string();
  file_ = folder_.path() /
          fmt::format("standard input {}{}", unique, extension_of_format({block.data(), size}));
  name_in_messages(file_, "standard input");
  NewFile copy(file_);
  for (; size > 0; size = read_block(block)) copy.write({block.data(), size});
  copy.commit();
}

}  // namespace lloyd::apps
