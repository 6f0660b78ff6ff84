#include "unit/support/run_ranks.hpp"

#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include "unit/support/thread_communicator.hpp"

namespace lloyd {

void run_ranks(int size, const std::function<void(std::shared_ptr<Communicator>)>& body) {
  const auto ranks = std::make_shared<ThreadRanks>(size);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(size));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          body(std::shared_ptr<Communicator>(
              new ThreadCommunicator(ranks, rank),
              [](Communicator* communicator) { communicator->release(); }));
        } catch (...) {
          failures[static_cast<std::size_t>(rank)] = std::current_exception();
          ranks->abort("another rank threw an exception");
        }
      });
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure != nullptr) std::rethrow_exception(failure);
  }
}

}  // namespace lloyd
