// Its session notes span two lines.
#include <string_view>

#include <lloyd/plugin/abi/session_notes.hpp>

#include "bad_plugins/support/bad_plugin.hpp"

namespace {

class GarbledNotes final : public lloyd::SessionNotes {
 public:
  const char* notes() const noexcept override { return "two way\nsplit"; }
};

void* query(lloyd::Session& honest, const char* interface_name) {
  static GarbledNotes notes;
  if (std::string_view(interface_name) != lloyd::kSessionNotes) return honest.query(interface_name);
  return static_cast<lloyd::SessionNotes*>(&notes);
}

}  // namespace

LLOYD_EXPORT_MISBEHAVIOUR(.query = query);
