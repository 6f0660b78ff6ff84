// ThreadCommunicator: the threads of one process as ranks.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/plugin/abi/communicator.hpp>

namespace lloyd {

/// What the threads share. The last thread to arrive at an operation carries it out for all.
class ThreadRanks {
 public:
  explicit ThreadRanks(int size) : calls_(static_cast<std::size_t>(size)) {}

  /// One operation of one rank. `kind` must be the same on all ranks.
  struct Call {
    std::string kind;
    const void* in = nullptr;
    void* out = nullptr;
    bool arrived = false;
  };
  using Complete = std::function<void(std::span<const Call> calls)>;

  int size() const { return static_cast<int>(calls_.size()); }

  Status call(int rank, const Call& mine, const Complete& complete) {
    std::unique_lock lock(mutex_);
    if (!failure_.empty()) return failed();
    for (std::size_t other = 0; other < calls_.size(); ++other) {
      if (!calls_[other].arrived || calls_[other].kind == mine.kind) continue;
      fail(fmt::format("rank {} calls {} where rank {} calls {}", rank, mine.kind, other,
                       calls_[other].kind));
      return failed();
    }
    calls_[static_cast<std::size_t>(rank)] = mine;
    calls_[static_cast<std::size_t>(rank)].arrived = true;
    if (++arrived_ == size()) {
      complete(calls_);
      std::fill(calls_.begin(), calls_.end(), Call());
      arrived_ = 0;
      ++generation_;
      changed_.notify_all();
      return {};
    }
    const std::int64_t generation = generation_;
    const auto done = [&] { return generation_ != generation || !failure_.empty(); };
    if (timeout_ == 0) {
      changed_.wait(lock, done);
    } else if (!changed_.wait_for(lock, std::chrono::duration<double>(timeout_), done)) {
      const auto missing = std::find_if(calls_.begin(), calls_.end(),
                                        [](const Call& call) { return !call.arrived; });
      fail(fmt::format("rank {} waited {} s for rank {} in {}", rank, timeout_,
                       missing - calls_.begin(), mine.kind));
    }
    return generation_ != generation ? Status() : failed();
  }

  void set_timeout(double seconds) {
    const std::lock_guard lock(mutex_);
    timeout_ = seconds;
  }
  void abort(const std::string& message) {
    const std::lock_guard lock(mutex_);
    fail(message);
  }

 private:
  void fail(const std::string& message) {
    if (failure_.empty()) failure_ = message;
    changed_.notify_all();
  }
  Status failed() const { return Status::error(StatusCode::unavailable, failure_); }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Call> calls_;
  int arrived_ = 0;
  std::int64_t generation_ = 0;
  double timeout_ = 0;
  std::string failure_;
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<ThreadRanks> ranks, int rank)
      : ranks_(std::move(ranks)), rank_(rank) {}

  std::int32_t rank() const noexcept override { return rank_; }
  std::int32_t size() const noexcept override { return ranks_->size(); }

  Status all_reduce(const ReduceRequest& request) noexcept override {
    if (request.memory_space != MemorySpace::host) {
      return Status::error(StatusCode::unsupported, "threads reduce arrays in host memory only");
    }
    if (request.type == ElementType::float64) return reduce<double>(request, "float64");
    return reduce<std::int64_t>(request, "int64");
  }

  Status broadcast(void* bytes, std::int64_t count, std::int32_t root) noexcept override {
    return ranks_->call(rank_,
                        {fmt::format("broadcast of {} bytes from {}", count, root), bytes, bytes},
                        [&](std::span<const ThreadRanks::Call> calls) {
                          const void* const source = calls[static_cast<std::size_t>(root)].in;
                          for (const ThreadRanks::Call& call : calls) {
                            if (call.out != source) {
                              std::memcpy(call.out, source, static_cast<std::size_t>(count));
                            }
                          }
                        });
  }

  Status all_gather(const void* mine, std::int64_t bytes, void* all) noexcept override {
    return ranks_->call(rank_, {fmt::format("all_gather of {} bytes", bytes), mine, all},
                        [&](std::span<const ThreadRanks::Call> calls) {
                          for (const ThreadRanks::Call& to : calls) {
                            char* place = static_cast<char*>(to.out);
                            for (const ThreadRanks::Call& from : calls) {
                              std::memcpy(place, from.in, static_cast<std::size_t>(bytes));
                              place += bytes;
                            }
                          }
                        });
  }

  Status barrier() noexcept override {
    return ranks_->call(rank_, {"barrier"}, [](std::span<const ThreadRanks::Call>) {});
  }
  void set_timeout(double seconds) noexcept override { ranks_->set_timeout(seconds); }
  void progress() noexcept override {}
  void abort(const char* message) noexcept override { ranks_->abort(message); }
  bool reports_failure() noexcept override { return rank_ == 0; }
  void* query(const char*) noexcept override { return nullptr; }
  void release() noexcept override { delete this; }

 private:
  template <class T>
  Status reduce(const ReduceRequest& request, const char* type) {
    const auto count = static_cast<std::size_t>(request.count);
    return ranks_->call(
        rank_,
        {fmt::format("all_reduce {} of {} {}", static_cast<int>(request.op), count, type),
         request.data, request.data},
        [&](std::span<const ThreadRanks::Call> calls) {
          const T* const first = static_cast<const T*>(calls[0].in);
          std::vector<T> result(first, first + count);
          for (const ThreadRanks::Call& call : calls.subspan(1)) {
            const T* const values = static_cast<const T*>(call.in);
            for (std::size_t i = 0; i < count; ++i) {
              result[i] = request.op == ReduceOp::sum   ? result[i] + values[i]
                          : request.op == ReduceOp::min ? std::min(result[i], values[i])
                                                        : std::max(result[i], values[i]);
            }
          }
          for (const ThreadRanks::Call& call : calls) {
            std::copy(result.begin(), result.end(), static_cast<T*>(call.out));
          }
        });
  }

  std::shared_ptr<ThreadRanks> ranks_;
  int rank_;
};

}  // namespace lloyd
