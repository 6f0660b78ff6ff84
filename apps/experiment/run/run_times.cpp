#include "experiment/run/run_times.hpp"

#include <fmt/format.h>

namespace lloyd::experiment {

std::string times_text(const RunTimes& times) {
  return fmt::format(
      "time: {:.1f} s: timed fits {:.1f} s, data {:.1f} s, seeding {:.1f} s, checks {:.1f} s, "
      "other {:.1f} s; {:.0f} % are neither fits nor data",
      times.total / 1e3, times.fits / 1e3, times.data / 1e3, times.seeding / 1e3,
      times.checks / 1e3, times.other() / 1e3, 100 * times.own_share());
}

}  // namespace lloyd::experiment
