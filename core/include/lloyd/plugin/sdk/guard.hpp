// guarded: turns exceptions into a Status, since none may cross the plugin boundary. call_step:
// adds the name of the step's function to the message of an exception it throws.
#pragma once

#include <exception>
#include <new>
#include <string>
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

namespace detail {

// Calls a function of a step, such as "assign()". A StatusError passes unchanged: its author has
// chosen code and message. Other exceptions become one that names the function.
template <class Call>
decltype(auto) call_step(const char* function, Call&& call) {
  const auto text = [function](const char* what) {
    return std::string("the step's ") + function + " threw an exception" + what;
  };
  try {
    return std::forward<Call>(call)();
  } catch (const StatusError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw StatusError(StatusCode::out_of_memory,
                      std::string("the backend ran out of host memory in the step's ") + function);
  } catch (const std::exception& error) {
    const std::string_view what = error.what();
    throw StatusError(StatusCode::internal,
                      what.empty() ? text(" without a message") : text(": ").append(what));
  } catch (...) {
    throw StatusError(StatusCode::internal, text(" that is not a std::exception"));
  }
}

}  // namespace detail

}  // namespace lloyd
