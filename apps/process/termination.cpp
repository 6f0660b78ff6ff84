#include "process/termination.hpp"

#include <cxxabi.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <typeinfo>

#include <fmt/format.h>

#include <lloyd/internal/status_text.hpp>

namespace lloyd::apps {
namespace {

void (*say_termination)(const char* sentence) = nullptr;

// Type of the uncaught exception.
std::string type_name() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "an unknown type";
  int status = 0;
  char* const name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string text = status == 0 ? name : type->name();
  std::free(name);
  return text;
}

std::string termination_reason() {
  const std::exception_ptr thrown = std::current_exception();
  if (thrown == nullptr) {
    return "std::terminate() was called without an exception; likely causes are a std::thread that "
           "was destroyed before join() or detach(), 'throw;' outside of a handler, and "
           "pthread_exit() or a cancelled thread within a function that is noexcept";
  }
  const std::string type = type_name();
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    const std::string_view what = error.what();
    if (what.empty()) {
      return fmt::format("an exception of type {} without a message was not caught", type);
    }
    return fmt::format("an exception of type {} was not caught: {}", type, what);
  } catch (...) {
    return fmt::format("an exception of type {} was not caught", type);
  }
}

[[noreturn]] void terminate_with_reason() {
  try {
    say_termination(escaped(termination_reason()).c_str());
  } catch (const std::bad_alloc&) {
    say_termination("an exception was not caught, and there is no memory to name it");
  }
  std::abort();
}

}  // namespace

void describe_termination(void (*say)(const char* sentence)) {
  say_termination = say;
  std::set_terminate(terminate_with_reason);
}

void say_to_standard_error(const char* sentence) {
  const std::string line = std::string(sentence) + '\n';
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace lloyd::apps
