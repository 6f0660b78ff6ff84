// guarded: turns exceptions into a Status, since none may cross the plugin boundary.
#pragma once

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include <lloyd/plugin/abi/status.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

namespace lloyd {

/// Runs `body` under the default floating-point modes. Returns ok, or a Status for the exception
/// that it threw.
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
    const std::string_view what = error.what();
    return Status::error(StatusCode::internal,
                         what.empty() ? "the backend threw an exception without a message" : what);
  } catch (...) {
    return Status::error(StatusCode::internal,
                         "the backend threw an exception that is not a std::exception");
  }
}

}  // namespace lloyd
