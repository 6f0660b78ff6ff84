// Lists the backends that are installed, and clusters with one of them and a parameter of it.
#include <cstdio>

#include <lloyd/data/blobs.hpp>
#include <lloyd/kmeans.hpp>

void list_backends() {
  lloyd::Registry registry(lloyd::Registry::default_folders());
  for (const auto& backend : registry.load_all()) {
    std::printf("%s: %s\n", backend->name().c_str(),
                backend->available() ? backend->info().summary : backend->unavailable().c_str());
  }
}

lloyd::Fit fit_on_two_threads(const lloyd::Dataset& points, std::int64_t k) {
  return lloyd::kmeans(points, k,
                       {.backend = {.name = "openmp", .parameters = {{"threads", "2"}}}});
}

int main() {
  list_backends();
  try {
    const lloyd::Dataset points = lloyd::make_blobs({.samples = 10000});
    const lloyd::Fit fit = fit_on_two_threads(points, 8);
    std::printf("%s: inertia %.0f\n", fit.backend.c_str(), fit.inertia);
  } catch (const lloyd::Error& error) {  // one sentence: what, where, which value, what is right
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
