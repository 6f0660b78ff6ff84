#include <lloyd/error.hpp>

#include <lloyd/internal/status_text.hpp>

namespace lloyd {

Error::Error(std::string_view message) : std::runtime_error(printable(message)) {}

}  // namespace lloyd
