// FAISS 1.7.3: clusters four points, saves the model, reads it back and labels the last point.
#include <cstdio>
#include <memory>
#include <vector>

#include <faiss/Clustering.h>
#include <faiss/IndexFlat.h>
#include <faiss/index_io.h>

int main() {
  const std::vector<float> points = {1, 1, 1, 2, 8, 8, 8, 9};  // 4 samples of 2 features
  faiss::IndexFlatL2 index(2);
  faiss::Clustering clustering(2, 2);
  clustering.train(4, points.data(), index);
  faiss::write_index(&index, "model.bin");
  const std::unique_ptr<faiss::Index> model(faiss::read_index("model.bin"));
  faiss::Index::idx_t label = 0;
  float distance = 0;
  model->search(1, &points[6], 1, &distance, &label);
  std::printf("inertia %g, the last point is in cluster %d\n",
              clustering.iteration_stats.back().obj, static_cast<int>(label));
}
