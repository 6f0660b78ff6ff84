// Clusters generated samples with one call of lloyd::kmeans(), like a program that embeds the
// library; default_threads.py measures it in new processes.
//
// Usage: embedded_fit SAMPLES FEATURES CLUSTERS ITERATIONS [THREADS]
//
// Prints the wall time of the fit in milliseconds and the number of iterations.
#include <cstdint>
#include <cstdio>
#include <string>

#include <lloyd/data/blobs.hpp>
#include <lloyd/error.hpp>
#include <lloyd/kmeans.hpp>

int main(int count, char** arguments) {
  constexpr int kRequired = 5;
  if (count < kRequired || count > kRequired + 1) {
    std::fprintf(stderr, "usage: embedded_fit SAMPLES FEATURES CLUSTERS ITERATIONS [THREADS]\n");
    return 2;
  }
  try {
    const std::int64_t clusters = std::stoll(arguments[3]);
    const lloyd::Dataset samples = lloyd::make_blobs({.samples = std::stoll(arguments[1]),
                                                      .features = std::stoll(arguments[2]),
                                                      .centers = clusters});
    lloyd::KMeansOptions options;
    options.fit.max_iterations = std::stoll(arguments[4]);
    options.fit.fixed_iterations = true;
    options.fit.seeding.method = lloyd::SeedingMethod::random;
    options.backend.name = "openmp";
    if (count > kRequired) options.backend.parameters = {{"threads", arguments[kRequired]}};
    const lloyd::Fit fit = lloyd::kmeans(samples, clusters, options);
    std::printf("%.6f %lld\n", fit.fit_ms, static_cast<long long>(fit.result.iterations));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "embedded_fit: %s\n", error.what());
    return 1;
  }
}
