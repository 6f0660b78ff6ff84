// Its description contains line feeds and escape sequences. With LLOYD_LONG_SUMMARY, its summary is
// a sentence of 160 characters.
#include <cstring>

#include "bad_plugins/support/bad_plugin.hpp"

namespace {

using namespace lloyd;

Status probe_with_garbled_device(DeviceList* devices) noexcept {
  const Status status = bad::probe_honest(devices);
  std::strcpy(devices->devices[0].name, "device\nof \x1b[1mtwo");
  return status;
}

Status create_with_garbled_texts(Backend** backend) noexcept {
  return guarded([&] {
    Backend* const honest = bad::make_honest();
    static const ParameterInfo parameters[] = {
        integer_parameter("lines", 1, 0, 5, "meaning\nof \x1b[1mtwo")};
    BackendInfo info = *honest->info();
#if defined(LLOYD_LONG_SUMMARY)
    info.summary =
        "a kernel whose author describes in one sentence every processor on which it runs, every "
        "data type that it accepts, and every paper from which its method is taken";
#else
    info.summary = "summary\nof \x1b[1mtwo";
#endif
    info.algorithm = "algorithm\nof \x1b[1mtwo";
    info.reproducibility_reason = "reason\nof \x1b[1mtwo";
    info.parameters = parameters;
    info.parameter_count = 1;
    *backend = new bad::MisbehavingBackend({}, honest, info);
  });
}

}  // namespace

LLOYD_EXPORT_BAD_PLUGIN(&probe_with_garbled_device, &create_with_garbled_texts);
