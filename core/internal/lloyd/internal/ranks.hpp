// Ranks: the typed operations of a communicator. Without a communicator there is one rank, so that
// local and distributed work share their code.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lloyd/plugin/abi/communicator.hpp>
#include <lloyd/plugin/abi/exact_sum.hpp>
#include <lloyd/plugin/abi/status.hpp>

namespace lloyd {

/// Name of a machine, zero-terminated.
using HostName = std::array<char, 256>;

/// The name of this machine, cut if it does not fit.
HostName host_name() noexcept;

/// "rank 2 on node1", for messages.
std::string name_of_rank(int rank, const HostName& host);

/// Thrown by all ranks alike, so that none of them waits for another.
class AgreedError : public StatusError {
 public:
  using StatusError::StatusError;
};

/// All arrays are in host memory. Methods after alone() are collective unless they say
/// otherwise, and throw StatusError if the communicator fails.
class Ranks {
 public:
  /// One rank: collective operations have no effect.
  Ranks() = default;
  /// The ranks of a communicator; null: one rank.
  explicit Ranks(std::shared_ptr<Communicator> communicator);

  /// The caller's rank.
  int rank() const { return rank_; }
  /// Number of ranks.
  int size() const { return size_; }
  /// True if there is one rank.
  bool alone() const { return size_ == 1; }

  /// Element-wise sum over all ranks, in place; the sums must fit into 64 bits.
  void sum(std::span<std::int64_t> values) const;
  /// The sum of exact sums over all ranks.
  ExactSum sum(const ExactSum& mine) const;
  /// Element-wise maximum over all ranks, in place.
  void max(std::span<std::int64_t> values) const;
  /// Element-wise maximum of values that are not NaN over all ranks, in place.
  void max(std::span<double> values) const;

  /// Copies the values of rank `root` to all ranks.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void broadcast(std::span<T> values, int root) const {
    broadcast_bytes(values.data(), static_cast<std::int64_t>(values.size_bytes()), root);
  }

  /// The values of all ranks, by ascending rank. Each rank passes the same number.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> gather(std::span<const T> mine)
  const {
    std::vector<T> all(mine.size() * static_cast<std::size_t>(size_));
    gather_bytes(mine.data(), static_cast<std::int64_t>(mine.size_bytes()), all.data());
    return all;
  }
  /// One value of each rank.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> gather(const T& mine)
  const { return gather(std::span<const T>(&mine, 1)); }

  /// The values of all ranks, by ascending rank. Each rank may pass another number of values.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> concatenate(std::span<const T> mine)
  const {
    const std::vector<std::size_t> sizes = gather(mine.size());
    const std::size_t largest = *std::max_element(sizes.begin(), sizes.end());
    std::vector<T> padded(mine.begin(), mine.end());
    padded.resize(largest);
    const std::vector<T> gathered = gather(std::span<const T>(padded));
    std::vector<T> all;
    for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
      const auto first = gathered.begin() + static_cast<std::ptrdiff_t>(rank * largest);
      all.insert(all.end(), first, first + static_cast<std::ptrdiff_t>(sizes[rank]));
    }
    return all;
  }

  /// Throws AgreedError, with the name of the first value that differs, unless all ranks pass the
  /// same values. The last name stands for all further values.
  void require_same(std::span<const std::int64_t> values, std::span<const char* const> names) const;

  /// Throws on all ranks if one of them passes a status other than ok: an AgreedError with the
  /// status of the lowest such rank, and "rank N on HOST: " in front of its message unless all
  /// ranks pass this status. If the communicator fails, a rank whose own status is not ok throws
  /// that, with "rank N on HOST: " in front of its message. With one rank, throws the status as it
  /// is.
  void agree(const Status& mine) const;

  /// Runs work that is not collective. If it throws on some rank, all ranks throw what agree()
  /// throws; see status_of(). With one rank, exceptions pass through unchanged.
  void together(const std::function<void()>& body) const;

  /// Tells the other ranks that this one is at work; not collective.
  void progress() const noexcept;
  /// Makes the operations of all other ranks fail; not collective.
  void abort(const char* message) const noexcept;

 private:
  void reduce(void* values, std::size_t count, ElementType type, ReduceOp op) const;
  void broadcast_bytes(void* bytes, std::int64_t count, int root) const;
  void gather_bytes(const void* mine, std::int64_t bytes, void* all) const;

  std::shared_ptr<Communicator> communicator_;
  int rank_ = 0;
  int size_ = 1;
};

/// Runs `body`. Returns ok, or a status for what it threw: that of a StatusError or BackendError,
/// `cancelled` for Cancelled, `invalid_argument` for InputError, `internal` for other errors.
Status status_of(const std::function<void()>& body) noexcept;

/// Throws the exception of the core for a status that status_of() returned.
[[noreturn]] void throw_error(const Status& status);

/// Runs `body`; a StatusError that leaves it is thrown as the core's exception for its status.
template <class Body>
decltype(auto) with_core_errors(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const StatusError& error) {
    throw_error(error.status());
  }
}

}  // namespace lloyd
