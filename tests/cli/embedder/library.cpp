// A shared library that contains the core.
#include <cstdio>
#include <vector>

#include <lloyd/error.hpp>
#include <lloyd/kmeans.hpp>

/// Clusters two points and prints the inertia. Returns false after an error, which it prints.
extern "C" bool fit_two_points() {
  try {
    const std::vector<float> points = {1, 2};
    std::printf("inertia %g\n", lloyd::kmeans(points.data(), 2, 1, 2).result.inertia);
    return true;
  } catch (const lloyd::Error& error) {
    std::printf("%s\n", error.what());
    return false;
  }
}
