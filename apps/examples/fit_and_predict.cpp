// Clusters four points, saves the model, reads it back and labels the last point.
#include <cstdio>
#include <vector>

#include <lloyd/kmeans.hpp>

int main() {
  const std::vector<float> points = {1, 1, 1, 2, 8, 8, 8, 9};  // 4 samples of 2 features
  const lloyd::Fit fit = lloyd::kmeans(points, 2, 2);          // 2 features, 2 clusters
  fit.save("model.json");
  const std::vector<std::int32_t> labels = lloyd::Model::load("model.json").predict(&points[6], 1);
  std::printf("inertia %g, the last point is in cluster %d\n", fit.inertia, labels[0]);
}
