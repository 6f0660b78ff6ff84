// guarded: keeps exceptions inside the plugin.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include <lloyd/plugin/float_environment.hpp>
#include <lloyd/plugin/status.hpp>

namespace lloyd {

/// Runs `body` under the default floating-point modes and turns whatever it throws into a Status.
template <class Body>
Status guarded(Body&& body) noexcept {
  const FloatEnvironment environment;
  try {
    std::forward<Body>(body)();
    return Status{};
  } catch (const StatusError& error) {
    return error.status();
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::out_of_memory, "the backend ran out of host memory");
  } catch (const std::exception& error) {
    return Status::error(StatusCode::internal, error.what());
  } catch (...) {
    return Status::error(StatusCode::internal, "the backend threw something unknown");
  }
}

}  // namespace lloyd
