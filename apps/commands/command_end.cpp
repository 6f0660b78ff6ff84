#include "commands/command_end.hpp"

#include <exception>
#include <new>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>

#include "options/option_names.hpp"
#include "output/result_stream.hpp"
#include "process/exit_status.hpp"
#include "supervision/interrupt.hpp"
#include "supervision/supervision.hpp"

namespace lloyd::apps {

namespace {

// Like run_to_status(), but after a failure results may still be buffered.
int run_to_report(const std::function<int()>& body) {
  try {
    const int status = body();
    flush_results();
    return status;
  } catch (const SupervisedEnd& end) {
    return end.status;
  } catch (const InputError& error) {
    report_failure(with_option_names(error.what()));
    return kBadInput;
  } catch (const BackendError& error) {
    report_failure(error.what());
    // `unsupported` means that the request was wrong, not that the backend failed.
    if (error.code() == StatusCode::unsupported) return kBadInput;
    return interrupted() ? kInterrupted : kFailed;
  } catch (const Cancelled&) {
    report_failure("interrupted");
    return kInterrupted;
  } catch (const std::bad_alloc&) {
    report_failure("out of memory");
    return kFailed;
  } catch (const std::exception& error) {
    report_failure(error.what());
    return interrupted() ? kInterrupted : kFailed;
  }
}

}  // namespace

int run_to_status(const std::function<int()>& body) {
  const int status = run_to_report(body);
  try {
    flush_results();  // results written before a failure
  } catch (const std::exception&) {
    // The first failure has been reported already.
  }
  return status;
}

int run_to_end(const std::function<int()>& body) {
  const int status = run_to_status(body);
  report_end(status);
  return status;
}

}  // namespace lloyd::apps
