// Claims support for strided data but reads rows as contiguous.
#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status open(lloyd::Backend& honest, const lloyd::DatasetView& dataset,
                          const lloyd::ParameterList& parameters, lloyd::Session** session) {
  lloyd::DatasetView dense = dataset;
  dense.stride = dense.features;
  return honest.open(dense, parameters, session);
}

LLOYD_EXPORT_MISBEHAVIOUR(.open = open);
