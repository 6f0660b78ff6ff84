// Clusters samples that are held by std::span, Eigen or std::mdspan. Eigen and std::mdspan (C++23)
// are left out where they are missing.
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include <lloyd/kmeans.hpp>

#if __has_include(<Eigen/Core>)
#include <Eigen/Core>
#endif
#if __has_include(<mdspan>)
#include <mdspan>
#endif

lloyd::Fit fit_span(std::span<const float> values, std::int64_t features, std::int64_t k) {
  return lloyd::kmeans(values, features, k);
}

#ifdef EIGEN_WORLD_VERSION
lloyd::Fit fit_eigen(const Eigen::MatrixXf& points, std::int64_t k) {
  return lloyd::kmeans(lloyd::view_matrix(points), k);  // a row is a sample
}
#endif

#ifdef __cpp_lib_mdspan
lloyd::Fit fit_mdspan(std::mdspan<const float, std::dextents<std::size_t, 2>> points,
                      std::int64_t k) {
  return lloyd::kmeans(lloyd::view_matrix(points), k);  // the first index is the sample
}
#endif

int main() {
  const std::vector<float> values = {1, 1, 1, 2, 8, 8, 8, 9};  // 4 samples of 2 features
  std::printf("span: inertia %g\n", fit_span(values, 2, 2).inertia);
#ifdef EIGEN_WORLD_VERSION
  Eigen::MatrixXf points(4, 2);
  points << 1, 1, 1, 2, 8, 8, 8, 9;
  std::printf("Eigen: inertia %g\n", fit_eigen(points, 2).inertia);
#endif
#ifdef __cpp_lib_mdspan
  std::printf("mdspan: inertia %g\n", fit_mdspan({values.data(), 4, 2}, 2).inertia);
#endif
}
