// A picture of a clustering: samples, centroids and cluster sizes, as SVG.
#pragma once

#include <string>

#include <lloyd/fit.hpp>

namespace lloyd::apps {

/// An SVG document with the samples and centroids of a finished fit, projected to the first two
/// principal axes of the samples that are drawn (read_plotted_samples(), principal_axes()), in the
/// space that was clustered. Both axes have the same scale; with one feature, the axes are its
/// value and the row of the sample. Clusters have the colours of the report by size, the largest
/// first; the legend gives their sizes. `dataset` is the data set of the fit. Deterministic.
/// Throws as read_plotted_samples().
std::string cluster_plot_svg(const Dataset& dataset, const Fit& fit, const StopFunction& stop = {});

}  // namespace lloyd::apps
