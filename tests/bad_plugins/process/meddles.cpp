// Changes the state of the process in one of its calls: LLOYD_MEDDLE is "<call> <action>"; meddle()
// lists the actions.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cfenv>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <locale>
#include <string>

#include "bad_plugins/support/bad_plugin.hpp"

namespace {

using namespace lloyd;

void meddle(const std::string& what) {
  if (what == "chdir") (void)!::chdir("/");
  if (what == "umask") ::umask(0);
  if (what == "close-output") ::close(STDOUT_FILENO);
  if (what == "replace-output") ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
  if (what == "close-all") {
    for (int descriptor = 0; descriptor < 1000; ++descriptor) ::close(descriptor);
  }
  if (what == "nonblocking") ::fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
  if (what == "print") std::printf("{\"iterations\": NaN");
  if (what == "read") (void)std::getchar();
  if (what == "block") {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  }
  if (what == "ignore") ::signal(SIGTERM, SIG_IGN);
  if (what == "locale") std::setlocale(LC_ALL, "C.UTF-8");
  if (what == "thread-locale") ::uselocale(::newlocale(LC_ALL_MASK, "C", nullptr));
  if (what == "cpp-locale") {  // unnamed, so setlocale() does not report it
    std::locale::global(std::locale(std::locale(), new std::numpunct<char>));
  }
  if (what == "setenv") ::setenv("LLOYD_MEDDLED", "1", 1);
  if (what == "limit") {
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 0;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (what == "rounding") std::fesetround(FE_DOWNWARD);
  if (what == "alarm") ::alarm(10000);
  if (what == "terminate") std::set_terminate(std::abort);
}

void in_call(const std::string& call) {
  const char* const text = std::getenv("LLOYD_MEDDLE");
  const std::string wanted = text == nullptr ? "" : text;
  if (wanted.starts_with(call + " ")) meddle(wanted.substr(call.size() + 1));
}

Status open(Backend& honest, const DatasetView& dataset, const ParameterList& parameters,
            Session** session) {
  in_call("open");
  return honest.open(dataset, parameters, session);
}

Status fit(Session& honest, const FitSpec& spec, Observer* observer, FitResult& result) {
  const Status status = honest.fit(spec, observer, result);
  in_call("fit");
  return status;
}

Status probe(DeviceList* devices) noexcept {
  in_call("probe");
  return bad::probe_honest(devices);
}

Status create(Backend** backend) noexcept {
  in_call("create");
  return guarded([&] {
    *backend =
        new bad::MisbehavingBackend({.open = open,
                                     .fit = fit,
                                     .after_partial = [](PartialResult&) { in_call("partial"); },
                                     .before_estimate = [] { in_call("estimate"); }},
                                    bad::make_honest());
  });
}

// Acts after the program has printed its results.
struct AtExit {
  ~AtExit() { in_call("exit"); }
} at_exit;

}  // namespace

LLOYD_EXPORT_BAD_PLUGIN(&probe, &create);
