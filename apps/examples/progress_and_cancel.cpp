// Prints the progress of a fit, and ends it after ten iterations or on Ctrl-C. The centroids of the
// last finished iteration are kept.
#include <atomic>
#include <csignal>
#include <cstdio>

#include <lloyd/data/blobs.hpp>
#include <lloyd/kmeans.hpp>

std::atomic<bool> interrupted = false;

lloyd::Fit fit_with_progress(const lloyd::Dataset& points, std::int64_t k) {
  lloyd::KMeansOptions options;
  options.on_iteration = [](const lloyd::IterationRecord& record) {
    std::printf("iteration %d: %d labels changed\n", static_cast<int>(record.iteration),
                static_cast<int>(record.changed));
    return record.iteration < 10;  // false cancels the fit
  };
  options.stop = [] { return interrupted.load(); };  // polled during seeding and iterations
  return lloyd::kmeans(points, k, options);
}

int main() {
  std::signal(SIGINT, [](int) { interrupted = true; });
  const lloyd::Dataset points =
      lloyd::make_blobs({.samples = 20000, .features = 8, .centers = 40, .std = 10});
  const lloyd::Fit fit = fit_with_progress(points, 40);
  std::printf("%s after %d iterations\n", fit.cancelled ? "cancelled" : "finished",
              static_cast<int>(fit.result.iterations));
}
