// Misbehaves between loading and the first fit; the build defines when and how.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "bad_plugins/support/bad_plugin.hpp"
#include "bad_plugins/support/loading_mark.hpp"

namespace {

[[noreturn, maybe_unused]] void hang() {
  while (true) ::pause();
}

[[noreturn, maybe_unused]] void hang_deaf() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  hang();
}

[[noreturn, maybe_unused]] void crash() {
  ::raise(SIGSEGV);
  std::abort();
}

// True in the first process that loads this plugin: it creates the file that the environment
// variable LLOYD_FIRST_LOAD names.
[[maybe_unused]] bool is_first_process() {
  const char* const file = std::getenv("LLOYD_FIRST_LOAD");
  if (file == nullptr) return true;
  const int made = ::open(file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (made < 0) return false;
  ::close(made);
  return true;
}

[[maybe_unused]] lloyd::Status thrown() {
  return lloyd::guarded([] { throw std::runtime_error("the table of tiles is missing"); });
}

void in_constructor() {
#if defined(LLOYD_LOADING_EXITS)
  std::exit(0);
#elif defined(LLOYD_LOADING_FORKS)
  if (::fork() == 0) hang_deaf();
#elif defined(LLOYD_LOADING_PRINTS)
  std::printf("{\"backends\": [");
  std::fflush(stdout);
#endif
}

void in_probe() {
#if defined(LLOYD_PROBE_ABORTS)
  std::fputs("the driver\nis \x1b[1msick\n", stderr);
  std::abort();
#elif defined(LLOYD_PROBE_EXITS)
  std::exit(0);
#elif defined(LLOYD_PROBE_STOPS)
  ::raise(SIGSTOP);
#elif defined(LLOYD_PROBE_DEAF)
  hang_deaf();
#elif defined(LLOYD_PROBE_CLOSES)
  for (int descriptor = 3; descriptor < 1024; ++descriptor) ::close(descriptor);
#elif defined(LLOYD_PROBE_ANSWERS)
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    [[maybe_unused]] const auto written = ::write(descriptor, "dgarbage", 8);
  }
#elif defined(LLOYD_SECOND_LOAD_ABORTS)
  if (!is_first_process()) std::abort();
#elif defined(LLOYD_SECOND_LOAD_HANGS)
  if (!is_first_process()) hang_deaf();
#endif
}

class Wrapped final : public lloyd::Backend {
 public:
  explicit Wrapped(lloyd::Backend* honest) : honest_(honest), info_(*honest->info()) {
#if defined(LLOYD_INFO_LONG)
    static const std::string summary(1 << 20, 's');
    info_.summary = summary.c_str();
#elif defined(LLOYD_INFO_BYTES)
    static const lloyd::ParameterInfo parameters[] = {
        lloyd::integer_parameter("x\xff", 1, 0, 5, "meaning")};
    info_.parameters = parameters;
    info_.parameter_count = 1;
#elif defined(LLOYD_INFO_RANGE)
    static const lloyd::ParameterInfo parameters[] = {
        lloyd::integer_parameter("tile", 6, 8, 4, "meaning")};
    info_.parameters = parameters;
    info_.parameter_count = 1;
#elif defined(LLOYD_INFO_NAN)
    static const lloyd::ParameterInfo parameters[] = {lloyd::number_parameter(
        "slack", 1, 0, std::numeric_limits<double>::quiet_NaN(), "meaning")};
    info_.parameters = parameters;
    info_.parameter_count = 1;
#elif defined(LLOYD_INFO_CHOICES)
    static const char* const layouts[] = {"rows", "columns", "rows"};
    static const lloyd::ParameterInfo parameters[] = {
        lloyd::choice_parameter("layout", layouts, "meaning")};
    info_.parameters = parameters;
    info_.parameter_count = 1;
#elif defined(LLOYD_INFO_LARGE)
    // Each text is within its limit; their sum is not.
    static const std::string meaning(1000, 'm');
    static std::vector<std::string> names;
    static std::vector<lloyd::ParameterInfo> parameters(500);
    for (std::size_t i = 0; i < parameters.size(); ++i) names.push_back(std::to_string(i));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i].name = names[i].c_str();
      parameters[i].meaning = meaning.c_str();
      parameters[i].type = lloyd::ParameterType::boolean;
    }
    info_.parameters = parameters.data();
    info_.parameter_count = static_cast<std::int64_t>(parameters.size());
#endif
  }

  const lloyd::BackendInfo* info() const noexcept override {
#if defined(LLOYD_INFO_HANGS)
    hang();
#elif defined(LLOYD_INFO_CRASHES)
    crash();
#else
    return &info_;
#endif
  }
  lloyd::Status supports(const lloyd::ProblemShape& shape, const lloyd::ParameterList& parameters,
                         const lloyd::FitSpec& spec) const noexcept override {
#if defined(LLOYD_SUPPORTS_HANGS)
    hang();
#elif defined(LLOYD_SUPPORTS_EXITS)
    std::exit(0);
#elif defined(LLOYD_SUPPORTS_THROWS)
    return thrown();
#endif
    return honest_->supports(shape, parameters, spec);
  }
  lloyd::Status estimate(const lloyd::ProblemShape& shape, const lloyd::ParameterList& parameters,
                         const lloyd::FitSpec& spec,
                         lloyd::MemoryEstimate& memory) const noexcept override {
#if defined(LLOYD_ESTIMATE_CRASHES)
    crash();
#elif defined(LLOYD_ESTIMATE_THROWS)
    return thrown();
#endif
    return honest_->estimate(shape, parameters, spec, memory);
  }
  lloyd::Status open(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters,
                     lloyd::Session** session) noexcept override {
#if defined(LLOYD_OPEN_EXITS)
    std::exit(0);
#elif defined(LLOYD_OPEN_DEAF)
    hang_deaf();
#endif
    return honest_->open(dataset, parameters, session);
  }
  void* query(const char* name) noexcept override {
    return honest_->query(name);
  }
  void release() noexcept override {
    honest_->release();
    delete this;
  }

 private:
  lloyd::Backend* honest_;
  lloyd::BackendInfo info_;
};

lloyd::Status probe(lloyd::DeviceList* devices) noexcept {
#if defined(LLOYD_PROBE_THROWS)
  return thrown();
#endif
  in_probe();
  return lloyd::bad::probe_honest(devices);
}

lloyd::Status create(lloyd::Backend** backend) noexcept {
  return lloyd::guarded([&] { *backend = new Wrapped(lloyd::bad::make_honest()); });
}

struct AtBothEnds {
  AtBothEnds() { in_constructor(); }
  ~AtBothEnds() {
#if defined(LLOYD_END_HANGS)
    hang_deaf();
#endif
  }
};
[[maybe_unused]] const AtBothEnds kAtBothEnds;

}  // namespace

LLOYD_EXPORT_BAD_PLUGIN(&probe, &create);
