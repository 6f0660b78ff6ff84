#include <lloyd/internal/ranks.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "session/status_error.hpp"

namespace lloyd {
namespace {

// The status of a rank, with the name of the rank in front of the message.
Status of_rank(int rank, const HostName& host, const Status& status) {
  return Status::error(status.code,
                       fmt::format("{}: {}", name_of_rank(rank, host), status.message));
}

}  // namespace

HostName host_name() noexcept {
  HostName name{};
  ::gethostname(name.data(), name.size() - 1);
  return name;
}

std::string name_of_rank(int rank, const HostName& host) {
  return fmt::format("rank {} on {}", rank, host.data());
}

Ranks::Ranks(std::shared_ptr<Communicator> communicator) : communicator_(std::move(communicator)) {
  if (communicator_ == nullptr) return;
  rank_ = communicator_->rank();
  size_ = communicator_->size();
  if (size_ < 1 || rank_ < 0 || rank_ >= size_) {
    throw StatusError(StatusCode::internal,
                      fmt::format("the communicator says that this is rank {} "
                                  "of {}",
                                  rank_, size_));
  }
}

void Ranks::reduce(void* values, std::size_t count, ElementType type, ReduceOp op) const {
  if (alone() || count == 0) return;
  ReduceRequest request;
  request.data = values;
  request.count = static_cast<std::int64_t>(count);
  request.type = type;
  request.op = op;
  throw_if_error(communicator_->all_reduce(request));
}

void Ranks::sum(std::span<std::int64_t> values) const {
  reduce(values.data(), values.size(), ElementType::int64, ReduceOp::sum);
}

ExactSum Ranks::sum(const ExactSum& mine) const {
  ExactSum all;
  all.add(mine);  // propagates the carries of `mine`, so that chunks can be added
  sum(all.chunks);
  return all;
}

void Ranks::max(std::span<std::int64_t> values) const {
  reduce(values.data(), values.size(), ElementType::int64, ReduceOp::max);
}

void Ranks::max(std::span<double> values) const {
  reduce(values.data(), values.size(), ElementType::float64, ReduceOp::max);
}

void Ranks::broadcast_bytes(void* bytes, std::int64_t count, int root) const {
  if (alone() || count == 0) return;
  throw_if_error(communicator_->broadcast(bytes, count, root));
}

void Ranks::gather_bytes(const void* mine, std::int64_t bytes, void* all) const {
  if (bytes == 0) return;
  if (alone()) {
    std::memcpy(all, mine, static_cast<std::size_t>(bytes));
    return;
  }
  throw_if_error(communicator_->all_gather(mine, bytes, all));
}

void Ranks::require_same(std::span<const std::int64_t> values,
                         std::span<const char* const> names) const {
  std::vector<std::int64_t> extremes(values.begin(), values.end());
  // The maximum of all complements is the complement of the minimum.
  for (const std::int64_t value : values) extremes.push_back(~value);
  max(extremes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (extremes[i] == ~extremes[values.size() + i]) continue;
    throw AgreedError(StatusCode::invalid_argument,
                      fmt::format("the ranks were given different values of {}",
                                  names[std::min(i, names.size() - 1)]));
  }
}

void Ranks::agree(const Status& mine) const {
  if (alone()) return throw_if_error(mine);
  struct RankStatus {
    Status status;
    HostName host;
  };
  std::vector<RankStatus> all;
  try {
    std::int64_t failed = mine.ok() ? 0 : 1;
    max(std::span(&failed, 1));
    if (failed == 0) return;
    all = gather(RankStatus{mine, host_name()});
  } catch (const StatusError&) {
    // This rank failed before the communicator did.
    if (!mine.ok()) throw StatusError(of_rank(rank_, host_name(), mine));
    throw;
  }
  const bool common = std::all_of(all.begin(), all.end(), [&](const RankStatus& rank) {
    return rank.status.code == mine.code && std::strcmp(rank.status.message, mine.message) == 0;
  });
  if (common) throw AgreedError(mine);
  for (int rank = 0; rank < size_; ++rank) {
    const auto& [status, host] = all[static_cast<std::size_t>(rank)];
    if (status.ok()) continue;
    throw AgreedError(of_rank(rank, host, status));
  }
}

void Ranks::together(const std::function<void()>& body) const {
  if (alone()) return body();
  agree(status_of(body));
}

void Ranks::progress() const noexcept {
  if (!alone()) communicator_->progress();
}

void Ranks::abort(const char* message) const noexcept {
  if (!alone()) communicator_->abort(message);
}

Status status_of(const std::function<void()>& body) noexcept {
  try {
    body();
    return {};
  } catch (const StatusError& error) {
    return error.status();
  } catch (const BackendError& error) {
    return Status::error(error.code(), error.what());
  } catch (const Cancelled& error) {
    return Status::error(StatusCode::cancelled, error.what());
  } catch (const InputError& error) {
    return Status::error(StatusCode::invalid_argument, error.what());
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::out_of_memory, "host memory is exhausted");
  } catch (const std::exception& error) {
    return Status::error(StatusCode::internal, error.what());
  } catch (...) {
    return Status::error(StatusCode::internal,
                         "a function threw an exception that is not derived from std::exception");
  }
}

void throw_error(const Status& status) {
  if (status.code == StatusCode::cancelled) throw Cancelled();
  if (status.code == StatusCode::invalid_argument) throw InputError(status.message);
  throw BackendError(status.code, status.message);
}

}  // namespace lloyd
