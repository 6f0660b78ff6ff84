// OpenCV 4.6: clusters four points, saves the model, reads it back and labels the last point.
#include <cstdio>

#include <opencv2/core.hpp>

int main() {
  const cv::Mat points = (cv::Mat_<float>(4, 2) << 1, 1, 1, 2, 8, 8, 8, 9);
  const cv::TermCriteria criteria(cv::TermCriteria::COUNT | cv::TermCriteria::EPS, 300, 1e-4);
  cv::Mat labels, centers, model, distances, nearest;
  const double inertia = cv::kmeans(points, 2, labels, criteria, 1, cv::KMEANS_PP_CENTERS, centers);
  cv::FileStorage file("model.json", cv::FileStorage::WRITE);
  file << "centers" << centers;
  file.open("model.json", cv::FileStorage::READ);
  file["centers"] >> model;
  cv::batchDistance(points.row(3), model, distances, CV_32F, nearest, cv::NORM_L2SQR, 1);
  std::printf("inertia %g, the last point is in cluster %d\n", inertia, nearest.at<int>(0));
}
