// A picture of a clustering: samples, centroids and cluster sizes, as SVG.
#pragma once

#include <string>

#include <lloyd/fit.hpp>

namespace lloyd::apps {

/// An SVG document with the samples and centroids of a finished fit, projected onto the first two
/// principal axes of the samples that are drawn (read_plotted_samples(), principal_axes()), in the
/// space that was clustered. Both axes have the same scale; with one feature, the axes are its
/// value and the row of the sample. The largest cluster has the first colour of the report, and so
/// on by size; the legend gives the sizes. `dataset` is the data set of the fit. The same input
/// gives the same document. Throws like read_plotted_samples().
std::string cluster_plot_svg(const Dataset& dataset, const Fit& fit, const StopFunction& stop = {});

}  // namespace lloyd::apps
