// mlpack 4: clusters four points, saves the model, reads it back and labels the last point.
#include <cstdio>

#include <mlpack.hpp>

int main() {
  const arma::mat points = {{1, 1, 8, 8}, {1, 2, 8, 9}};  // a column is a sample
  arma::Row<size_t> assignments;
  arma::mat centroids, model, distances;
  arma::Mat<size_t> label;
  mlpack::KMeans<>().Cluster(points, 2, assignments, centroids);
  const double inertia = arma::accu(
      arma::square(points - centroids.cols(arma::conv_to<arma::uvec>::from(assignments))));
  centroids.save("model.bin");
  model.load("model.bin");
  mlpack::KNN(model).Search(arma::mat(points.col(3)), 1, label, distances);
  std::printf("inertia %g, the last point is in cluster %d\n", inertia, static_cast<int>(label(0)));
}
