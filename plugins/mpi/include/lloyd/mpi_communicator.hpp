// MpiCommunicator: the processes of an MPI communicator as ranks. Header-only: it is compiled for
// the MPI library of the program that includes it.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <lloyd/plugin/abi/communicator.hpp>
#include <lloyd/plugin/abi/status.hpp>
#include <lloyd/plugin/sdk/guard.hpp>

namespace lloyd {

/// Whether release() finalizes MPI.
enum class MpiOwnership {
  borrowed,  ///< the program calls MPI_Finalize() itself
  owned,     ///< release() calls MPI_Finalize(), unless an operation has failed
};

/// A Communicator over MPI. Every operation is a non-blocking MPI call that is polled, so that it
/// can time out and notice failures of other ranks. A waiting rank spins briefly, then yields the
/// processor, and after 4 ms sleeps between polls.
///
/// Uses duplicates of the given communicator, so its messages do not mix with those of the program.
/// MPI must provide at least MPI_THREAD_SERIALIZED, since a backend may call progress() from any of
/// its threads; MPI calls of one object are serialized. If MPI provides MPI_THREAD_MULTIPLE, or
/// MPI_THREAD_SERIALIZED and this object is its only user (MpiOwnership::owned), a background
/// thread replies to ranks that wait for this one. Otherwise this rank replies only in operations
/// and in progress(), so choose a time-out that is longer than the work between them.
class MpiCommunicator final : public Communicator {
 public:
  /// Collective over `comm`. MPI must be initialized. Throws StatusError if an MPI call fails.
  explicit MpiCommunicator(MPI_Comm comm, MpiOwnership ownership = MpiOwnership::borrowed)
      : ownership_(ownership) {
    duplicate(comm, data_);
    duplicate(comm, control_);
    require("MPI_Comm_rank", MPI_Comm_rank(data_, &rank_));
    require("MPI_Comm_size", MPI_Comm_size(data_, &size_));
    char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
    int length = 0;
    require("MPI_Get_processor_name", MPI_Get_processor_name(name, &length));
    Host mine{};
    std::copy_n(name, std::min<std::size_t>(std::strlen(name), mine.size() - 1), mine.begin());
    hosts_.resize(static_cast<std::size_t>(size_));
    require("MPI_Allgather", MPI_Allgather(mine.data(), kHostBytes, MPI_BYTE, hosts_.data(),
                                           kHostBytes, MPI_BYTE, data_));
    int level = MPI_THREAD_SINGLE;
    require("MPI_Query_thread", MPI_Query_thread(&level));
    if (level == MPI_THREAD_MULTIPLE ||
        (level == MPI_THREAD_SERIALIZED && ownership == MpiOwnership::owned)) {
      replying_thread_ = std::jthread([this](const std::stop_token& stop) { reply_until(stop); });
    }
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  std::int32_t rank() const noexcept override { return rank_; }
  std::int32_t size() const noexcept override { return size_; }

  Status all_reduce(const ReduceRequest& request) noexcept override {
    if (request.memory_space != MemorySpace::host) {
      return Status::error(StatusCode::unsupported,
                           "MpiCommunicator reduces arrays in host memory only");
    }
    if (request.type == ElementType::float64 && request.op == ReduceOp::sum) {
      return Status::error(StatusCode::unsupported,
                           "MpiCommunicator does not sum float64, because such sums depend on the "
                           "order of addition");
    }
    return guarded([&] {
      require_buffers();
      for (std::int64_t first = 0; first < request.count; first += kMaxElements) {
        const auto count = std::min(kMaxElements, request.count - first);
        if (request.type == ElementType::float64) {
          reduce_doubles(static_cast<double*>(request.data) + first, count, request.op);
        } else {
          reduce_integers(static_cast<std::int64_t*>(request.data) + first, count, request.op);
        }
      }
    });
  }

  Status broadcast(void* bytes, std::int64_t count, std::int32_t root) noexcept override {
    return guarded([&] {
      require_buffers();
      for (std::int64_t first = 0; first < count; first += kMaxBytes) {
        const std::int64_t part = std::min(kMaxBytes, count - first);
        char* const values = static_cast<char*>(bytes) + first;
        void* const buffer = resized(received_, part);
        if (rank_ == root) std::memcpy(buffer, values, static_cast<std::size_t>(part));
        run("a broadcast", [&](MPI_Request* request) {
          return MPI_Ibcast(buffer, static_cast<int>(part), MPI_BYTE, root, data_, request);
        });
        std::memcpy(values, buffer, static_cast<std::size_t>(part));
      }
    });
  }

  Status all_gather(const void* mine, std::int64_t bytes, void* all) noexcept override {
    return guarded([&] {
      require_buffers();
      const std::int64_t max_part = std::max<std::int64_t>(kMaxBytes / size_, 1);
      for (std::int64_t first = 0; first < bytes; first += max_part) {
        const std::int64_t part = std::min(max_part, bytes - first);
        const int count = static_cast<int>(part);
        void* const sent = resized(sent_, part);
        char* const received = resized(received_, part * size_);
        std::memcpy(sent, static_cast<const char*>(mine) + first, static_cast<std::size_t>(part));
        run("an all-gather", [&](MPI_Request* request) {
          return MPI_Iallgather(sent, count, MPI_BYTE, received, count, MPI_BYTE, data_, request);
        });
        for (std::int64_t rank = 0; rank < size_; ++rank) {
          std::memcpy(static_cast<char*>(all) + rank * bytes + first, received + rank * part,
                      static_cast<std::size_t>(part));
        }
      }
    });
  }

  Status barrier() noexcept override {
    return guarded([&] {
      run("a barrier", [&](MPI_Request* request) { return MPI_Ibarrier(data_, request); });
    });
  }

  void set_timeout(double seconds) noexcept override { timeout_ = seconds; }

  void progress() noexcept override {
    const Clock::rep now = Clock::now().time_since_epoch().count();
    Clock::rep last = last_progress_;
    if (now - last < Clock::duration(kProgressInterval).count() ||
        !last_progress_.compare_exchange_strong(last, now)) {
      return;
    }
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock) receive_control();
  }

  void abort(const char* message) noexcept override {
    const std::lock_guard lock(mutex_);
    fail(message);
  }

  /// Several ranks may detect a failure at the same time and notify one another; the lowest of them
  /// reports it.
  bool reports_failure() noexcept override {
    const Clock::time_point end = Clock::now() + 3 * kProgressInterval;
    while (Clock::now() < end) {
      {
        const std::lock_guard lock(mutex_);
        receive_control();
        if (!found_failure_ || lower_rank_reports_) return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  void* query(const char*) noexcept override { return nullptr; }

  /// Frees the duplicated communicators and, if this object owns MPI, finalizes it; both may wait
  /// for the other ranks. After a failure nothing is freed, because an operation is still pending
  /// in MPI. A process that then exits without MPI_Finalize() makes the launcher end all others.
  void release() noexcept override {
    replying_thread_ = {};  // ends the thread
    if (failed_) return;
    MPI_Comm_free(&data_);
    MPI_Comm_free(&control_);
    if (ownership_ == MpiOwnership::owned) MPI_Finalize();
    delete this;
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Maximum bytes per MPI call. (MPI counts are int.)
  static constexpr std::int64_t kMaxBytes = std::int64_t{1} << 23;
  static constexpr std::int64_t kMaxElements = kMaxBytes / 8;
  static constexpr int kHostBytes = 64;
  using Host = std::array<char, kHostBytes>;

  // An out-of-band message between two ranks. A rank whose operation has timed out sends `probe`;
  // the others reply `waiting` if they are in an operation too, else `working`. `failure`: a rank
  // has failed.
  enum class ControlKind : std::int32_t { probe, waiting, working, failure };
  struct ControlMessage {
    ControlKind kind;
    char text[508];
  };
  static constexpr int kControlTag = 1;
  // Time to wait for replies; longer than the interval at which working ranks poll for probes.
  static constexpr std::chrono::seconds kReplyTime{3};
  static constexpr std::chrono::milliseconds kProgressInterval{100};
  // State of a rank, as learned from a probe.
  enum class RankState : std::int8_t { silent, waiting, working };

  static std::string mpi_text(const char* what, int error) {
    char text[MPI_MAX_ERROR_STRING + 1] = {};
    int length = 0;
    if (MPI_Error_string(error, text, &length) != MPI_SUCCESS) length = 0;
    return std::string(what) + " failed: " +
           (length > 0 ? std::string(text, static_cast<std::size_t>(length))
                       : "MPI error " + std::to_string(error));
  }

  static void require(const char* call, int error) {
    if (error != MPI_SUCCESS) throw StatusError(StatusCode::unavailable, mpi_text(call, error));
  }

  static void duplicate(MPI_Comm comm, MPI_Comm& copy) {
    require("MPI_Comm_dup", MPI_Comm_dup(comm, &copy));
    require("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN));
  }

  // Throws after a failure: MPI may still use the buffers, so they must not be resized.
  void require_buffers() {
    const std::lock_guard lock(mutex_);
    throw_if_failed();
  }

  static char* resized(std::vector<char>& buffer, std::int64_t bytes) {
    if (std::ssize(buffer) < bytes) buffer.resize(static_cast<std::size_t>(bytes));
    return buffer.data();
  }

  void reduce_integers(std::int64_t* values, std::int64_t count, ReduceOp op) {
    const MPI_Op mpi_op = op == ReduceOp::sum ? MPI_SUM : op == ReduceOp::min ? MPI_MIN : MPI_MAX;
    const auto bytes = static_cast<std::size_t>(count) * sizeof(std::int64_t);
    char* const sent = resized(sent_, static_cast<std::int64_t>(bytes));
    char* const received = resized(received_, static_cast<std::int64_t>(bytes));
    std::memcpy(sent, values, bytes);
    // Not in place: Open MPI 4.1 would then send all values through binomial trees.
    run("an all-reduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(sent, received, static_cast<int>(count), MPI_INT64_T, mpi_op, data_,
                            request);
    });
    std::memcpy(values, received, bytes);
  }

  // Minimum and maximum of doubles, as integers in the same order: MPI may choose either zero of
  // -0.0 and 0.0, and not the same one on all ranks. The values are not NaN.
  void reduce_doubles(double* values, std::int64_t count, ReduceOp op) {
    const auto reorder = [](std::int64_t bits) {
      return bits < 0 ? bits ^ std::numeric_limits<std::int64_t>::max() : bits;
    };
    std::vector<std::int64_t> ordered(static_cast<std::size_t>(count));
    std::transform(values, values + count, ordered.begin(),
                   [&](double value) { return reorder(std::bit_cast<std::int64_t>(value)); });
    reduce_integers(ordered.data(), count, op);
    std::transform(ordered.begin(), ordered.end(), values,
                   [&](std::int64_t bits) { return std::bit_cast<double>(reorder(bits)); });
  }

  // Runs an operation that `start` begins. Throws StatusError if it fails or times out.
  template <class Start>
  void run(const char* operation, const Start& start) {
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const std::lock_guard lock(mutex_);
      receive_control();
      throw_if_failed();
      in_operation_ = true;
      fail_unless_success(operation, start(&request));
    }
    Clock::time_point begin = Clock::now();
    bool all_waited = false;  // at the time of the last probe
    for (std::int64_t polls = 1; !is_done(operation, request, polls); ++polls) {
      const std::chrono::duration<double> waited = Clock::now() - begin;
      const double timeout = timeout_;
      if (timeout > 0 && waited.count() > timeout) {
        if (completes_while_probing(operation, request)) return;
        const std::lock_guard lock(mutex_);
        const bool all_wait = !has(RankState::silent) && !has(RankState::working);
        // One probe to which all ranks reply `waiting` proves nothing: a rank may have entered the
        // operation since. Two in a row do.
        if (has(RankState::silent) || (all_wait && all_waited)) {
          fail(timeout_text(operation, timeout).c_str());
          throw_if_failed();
        }
        all_waited = all_wait;
        begin = Clock::now();
      }
      // Yield first, because ranks may share a core. Sleep only after 4 ms, so that short waits are
      // not prolonged by a sleep.
      if (waited < std::chrono::milliseconds(4)) {
        if (polls > 50) std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  }

  bool is_done(const char* operation, MPI_Request& request, std::int64_t polls) {
    const std::lock_guard lock(mutex_);
    throw_if_failed();
    int done = 0;
    fail_unless_success(operation, MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    in_operation_ = done == 0;
    if (in_operation_ && polls % 64 == 0) receive_control();
    throw_if_failed();
    return done != 0;
  }

  // Asks the other ranks for their state. True if the operation completes meanwhile.
  bool completes_while_probing(const char* operation, MPI_Request& request) {
    {
      const std::lock_guard lock(mutex_);
      states_.assign(static_cast<std::size_t>(size_), RankState::silent);
      states_[static_cast<std::size_t>(rank_)] = RankState::waiting;
      send_to_all(kProbe);
    }
    const Clock::time_point end = Clock::now() + kReplyTime;
    while (Clock::now() < end) {
      if (is_done(operation, request, 0)) return true;
      {
        const std::lock_guard lock(mutex_);
        if (!has(RankState::silent)) return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  // Replies to probes while this rank is at work.
  void reply_until(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!failed_ && !stop.stop_requested()) {
      receive_control();
      wake_.wait_for(lock, stop, kProgressInterval, [] { return false; });
    }
  }

  std::string timeout_text(const char* operation, double timeout) const {
    std::string seconds = std::to_string(timeout);
    seconds.erase(seconds.find_last_not_of('0') + 1);
    if (seconds.back() == '.') seconds.pop_back();
    std::string missing;
    int others = 0;
    for (int rank = 0; rank < size_; ++rank) {
      if (states_[static_cast<std::size_t>(rank)] != RankState::silent) continue;
      if (missing.empty()) {
        missing =
            "rank " + std::to_string(rank) + " on " + hosts_[static_cast<std::size_t>(rank)].data();
      } else {
        ++others;
      }
    }
    if (others > 0)
      missing += " and " + std::to_string(others) + (others == 1 ? " more rank" : " more ranks");
    if (missing.empty()) {
      return "all ranks waited " + seconds + " s in " + operation +
             ": the network does not deliver messages, or the ranks are in different operations";
    }
    return missing + " did not take part in " + operation + " for " + seconds + " s";
  }

  // The methods below are called with mutex_ locked.

  bool has(RankState state) const {
    return std::find(states_.begin(), states_.end(), state) != states_.end();
  }

  void throw_if_failed() const {
    if (failed_) throw StatusError(StatusCode::unavailable, failure_.text);
  }

  void fail_unless_success(const char* operation, int error) {
    if (error == MPI_SUCCESS) return;
    fail(mpi_text(operation, error).c_str());
    throw_if_failed();
  }

  void fail(const char* text) noexcept {
    if (failed_) return;
    found_failure_ = true;
    set_failure(text);
    send_to_all(failure_);
  }

  void set_failure(const char* text) noexcept {
    failed_ = true;
    std::copy_n(text, std::min(std::strlen(text), sizeof(failure_.text) - 1), failure_.text);
  }

  // Sends without waiting. `message` must stay valid and unchanged until it is delivered.
  void send_to_all(const ControlMessage& message) noexcept {
    for (int rank = 0; rank < size_; ++rank) {
      if (rank != rank_) send(message, rank);
    }
  }

  // Send errors are ignored: a rank that cannot be reached ends by its own time-out.
  void send(const ControlMessage& message, int rank) noexcept {
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(&message, sizeof(ControlMessage), MPI_BYTE, rank, kControlTag, control_,
                  &request) == MPI_SUCCESS) {
      MPI_Request_free(&request);
    }
  }

  void receive_control() noexcept {
    while (true) {
      int found = 0;
      MPI_Status from;
      if (MPI_Iprobe(MPI_ANY_SOURCE, kControlTag, control_, &found, &from) != MPI_SUCCESS) return;
      if (found == 0) return;
      ControlMessage message{};
      if (MPI_Recv(&message, sizeof(ControlMessage), MPI_BYTE, from.MPI_SOURCE, kControlTag,
                   control_, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
        return;
      }
      switch (message.kind) {
        case ControlKind::probe:
          send(in_operation_ ? kWaiting : kWorking, from.MPI_SOURCE);
          break;
        case ControlKind::waiting:
          set_state(from.MPI_SOURCE, RankState::waiting);
          break;
        case ControlKind::working:
          set_state(from.MPI_SOURCE, RankState::working);
          break;
        case ControlKind::failure:
          message.text[sizeof(message.text) - 1] = '\0';
          if (!failed_) set_failure(message.text);
          if (from.MPI_SOURCE < rank_) lower_rank_reports_ = true;
      }
    }
  }

  void set_state(int rank, RankState state) noexcept {
    if (!states_.empty()) states_[static_cast<std::size_t>(rank)] = state;
  }

  static constexpr ControlMessage kProbe = {ControlKind::probe, {}};
  static constexpr ControlMessage kWaiting = {ControlKind::waiting, {}};
  static constexpr ControlMessage kWorking = {ControlKind::working, {}};

  MpiOwnership ownership_;
  MPI_Comm data_ = MPI_COMM_NULL;     // the operations
  MPI_Comm control_ = MPI_COMM_NULL;  // control messages
  int rank_ = 0;
  int size_ = 0;
  std::vector<Host> hosts_;
  // MPI works on buffers of this object, not on those of the caller: an operation that has timed
  // out stays pending, and MPI may write to its buffer later. release() then frees nothing.
  std::vector<char> sent_, received_;
  std::atomic<double> timeout_{0};
  std::atomic<Clock::rep> last_progress_{0};  // when progress() last polled
  std::mutex mutex_;                          // for calls of MPI and the members below
  bool in_operation_ = false;                 // this rank is in an operation
  bool failed_ = false;
  bool found_failure_ = false;  // detected by this rank, not received from another
  bool lower_rank_reports_ = false;
  ControlMessage failure_ = {ControlKind::failure, {}};
  std::vector<RankState> states_;     // by rank; empty before the first probe
  std::condition_variable_any wake_;  // interrupts the wait of the thread
  std::jthread replying_thread_;
};

/// The ranks of `comm`, for Dataset::part(); collective over `comm`. MPI must be initialized, and
/// must remain so until the last copy of the pointer is gone; see MpiCommunicator for threads.
/// Throws StatusError if an MPI call fails.
inline std::shared_ptr<Communicator> mpi_communicator(MPI_Comm comm) {
  return {new MpiCommunicator(comm), [](Communicator* communicator) { communicator->release(); }};
}

}  // namespace lloyd
