// Runs a test as several ranks.
#pragma once

#include <functional>
#include <memory>

#include <lloyd/plugin/abi/communicator.hpp>

namespace lloyd {

/// Calls body(communicator) as each of `size` ranks. In unit_tests, the ranks are threads; the
/// exception of the lowest rank that throws one is rethrown. In mpi_tests, they are processes,
/// and `body` is not called unless there are `size` of them.
void run_ranks(int size, const std::function<void(std::shared_ptr<Communicator>)>& body);

}  // namespace lloyd
