// Distances of samples to their centroids.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/dataset.hpp>

namespace lloyd::apps {

/// The Euclidean distance of each sample to the centroid of its label, n values in the unit of the
/// samples: the square root of the squared distance by the definition. `centroids` is k x d;
/// `labels` has n entries from 0 to k - 1. Data that is not in memory is read once, in blocks of
/// some megabytes. Throws what reading throws, and Cancelled once interrupted().
std::vector<double> distances_to_centroids(const Dataset& dataset,
                                           const std::vector<double>& centroids,
                                           const std::vector<std::int32_t>& labels);

/// Peak memory of distances_to_centroids() for n x d samples, in bytes.
std::int64_t distances_bytes(std::int64_t samples, std::int64_t features);

}  // namespace lloyd::apps
