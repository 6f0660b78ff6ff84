// In its first fit it changes the working directory to the folder that LLOYD_TEST_GO_TO names, and
// renames the folder that LLOYD_TEST_TAKE_AWAY names.
#include <stdio.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "bad_plugins/support/bad_plugin.hpp"

static lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec,
                         lloyd::Observer* observer, lloyd::FitResult& result) {
  const char* const folder = std::getenv("LLOYD_TEST_GO_TO");
  const char* const taken = std::getenv("LLOYD_TEST_TAKE_AWAY");
  [[maybe_unused]] int done = 0;
  if (folder != nullptr) done = ::chdir(folder);
  if (taken != nullptr) done = ::rename(taken, (std::string(taken) + ".gone").c_str());
  return honest.fit(spec, observer, result);
}

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);
