#include "fit/ranks/rank_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/new_file.hpp>
#include <lloyd/data/npy.hpp>
#include <lloyd/error.hpp>

#include "ipc/descriptor.hpp"
#include "output/output.hpp"
#include "supervision/interrupt.hpp"

namespace lloyd::apps {
namespace {

// Writes into an existing file at given offsets.
class OffsetWriter {
 public:
  // `name`: the file in messages.
  OffsetWriter(const char* path, std::string name) : name_(std::move(name)) {
    file_ = ::open(path, O_WRONLY | O_CLOEXEC);
    if (file_ < 0) fail("opened");
  }
  ~OffsetWriter() {
    if (file_ >= 0) ::close(file_);
  }
  OffsetWriter(const OffsetWriter&) = delete;
  OffsetWriter& operator=(const OffsetWriter&) = delete;

  void write(std::span<const std::byte> bytes, std::int64_t offset) const {
    while (!bytes.empty()) {
      const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), offset);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail("written");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      offset += written;
    }
  }
  // Some file systems report a full disk only on close().
  void close() {
    const int file = std::exchange(file_, -1);
    if (::close(file) != 0) fail("written");
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw Error(
        fmt::format("{} cannot be {}: {}", name_, what, std::generic_category().message(errno)));
  }

  std::string name_;
  int file_ = -1;
};

// A file that rank 0 writes under a temporary name.
struct SharedNames {
  std::array<char, 4096> temporary;
  std::array<char, 4096> target;
};

void copy_name(const std::filesystem::path& path, std::array<char, 4096>& name) {
  const std::string text = path.string();
  if (text.size() >= name.size()) throw InputError(fmt::format("{} is too long a path", text));
  std::copy(text.begin(), text.end(), name.begin());
}

bool is_npy(const std::filesystem::path& file) {
  return lower_case_extension(file) == ".npy";
}

std::int64_t min_label_bytes(const std::filesystem::path& file, std::int64_t labels) {
  if (!is_npy(file)) return 2 * labels;  // a digit and a line feed each
  return std::ssize(npy_labels_header(labels)) + labels * std::int64_t{sizeof(std::int32_t)};
}

// Calls `body` with the lines of a text file of labels, many at a time.
template <class Body>
void for_each_text_chunk(std::span<const std::int32_t> labels, const Body& body) {
  constexpr std::size_t kLabels = 1 << 16;
  for (; !labels.empty(); labels = labels.subspan(std::min(kLabels, labels.size()))) {
    body(fmt::format("{}\n", fmt::join(labels.first(std::min(kLabels, labels.size())), "\n")));
  }
}

}  // namespace

RowRange rows_of_rank(std::int64_t samples, int rank, int size) {
  const std::int64_t min_rows = samples / size;
  const std::int64_t longer_ranks = samples % size;  // those with one row more
  const auto first = [&](std::int64_t r) { return r * min_rows + std::min(r, longer_ranks); };
  return {first(rank), first(rank + 1)};
}

Matrix read_rows(const RowSource& source, RowRange rows, const Ranks& ranks) {
  constexpr std::int64_t kBlockBytes = std::int64_t{8} << 20;
  Matrix matrix;
  matrix.rows = rows.size();
  matrix.columns = matrix.stride = source.features();
  matrix.dtype = source.dtype();
  if (rows.size() == 0) return matrix;
  const std::int64_t row_bytes = matrix.columns * size_of(matrix.dtype);
  const std::shared_ptr<std::byte[]> values(
      new std::byte[static_cast<std::size_t>(rows.size() * row_bytes)]);
  const std::int64_t block_rows = std::max<std::int64_t>(kBlockBytes / row_bytes, 1);
  for (std::int64_t row = rows.begin; row < rows.end; row += block_rows) {
    if (interrupted()) throw Cancelled();
    ranks.progress();
    source.read({row, std::min(row + block_rows, rows.end)},
                values.get() + (row - rows.begin) * row_bytes);
  }
  matrix.storage = values;
  matrix.data = values.get();
  return matrix;
}

void write_rank_labels(const std::filesystem::path& file, std::span<const std::int32_t> labels,
                       const Ranks& ranks) {
  const auto counts = ranks.gather(std::ssize(labels));
  const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  std::optional<NewFile> output;
  SharedNames names{};
  ranks.together([&] {
    if (ranks.rank() != 0) return;
    output.emplace(file, min_label_bytes(file, total));
    if (is_npy(file)) output->write(npy_labels_header(total));
    copy_name(output->temporary(), names.temporary);
    copy_name(file, names.target);
  });
  ranks.broadcast(std::span(&names, 1), 0);
  const bool as_text = !is_npy(names.target.data());
  std::int64_t bytes = std::ssize(std::as_bytes(labels));
  if (as_text) {
    bytes = 0;
    for_each_text_chunk(labels, [&](std::string_view text) { bytes += std::ssize(text); });
  }
  std::int64_t offset = as_text ? 0 : std::ssize(npy_labels_header(total));
  const std::vector<std::int64_t> sizes = ranks.gather(bytes);
  for (int rank = 0; rank < ranks.rank(); ++rank) offset += sizes[static_cast<std::size_t>(rank)];
  ranks.together([&] {
    OffsetWriter part(names.temporary.data(), names.target.data());
    if (as_text) {
      for_each_text_chunk(labels, [&](std::string_view text) {
        part.write(std::as_bytes(std::span(text)), offset);
        offset += std::ssize(text);
        ranks.progress();
      });
    } else {
      part.write(std::as_bytes(labels), offset);
    }
    part.close();
  });
  ranks.together([&] {
    if (output) output->commit();
  });
}

void deliver_rank_labels(const std::filesystem::path& file, std::span<const std::int32_t> labels,
                         const Ranks& ranks, Delivery& delivery) {
  std::int32_t tries = 0;
  if (ranks.rank() == 0) {
    const bool written = delivery.write(file, [&](const std::filesystem::path& place) {
      tries = 1;
      ranks.broadcast(std::span(&tries, 1), 0);
      write_rank_labels(place, labels, ranks);
    });
    tries = 0;
    ranks.broadcast(std::span(&tries, 1), 0);
    if (written) note("wrote {}\n", file.string());
    return;
  }
  while (true) {
    ranks.broadcast(std::span(&tries, 1), 0);
    if (tries == 0) return;
    try {
      write_rank_labels({}, labels, ranks);
    } catch (const AgreedError&) {
      // Rank 0 has the same error.
    }
  }
}

void require_same_labels(const std::string& file, const Ranks& ranks) {
  const std::int64_t writes_labels = file.empty() ? 0 : 1;
  constexpr const char* kNames[] = {"--labels"};
  ranks.require_same(std::span(&writes_labels, 1), kNames);
}

}  // namespace lloyd::apps
