#include "output/colour.hpp"

#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

#include "output/messages.hpp"

namespace lloyd::apps {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// Parameter of the control sequence "Select Graphic Rendition" (ECMA-48).
int rendition(Colour colour) {
  switch (colour) {
    case Colour::red:
      return 31;
    case Colour::green:
      return 32;
    case Colour::yellow:
      return 33;
  }
  return 39;  // the default colour
}

}  // namespace

bool shows_colour(int descriptor) {
  return ::isatty(descriptor) != 0 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

std::string coloured(std::string_view text, Colour colour) {
  return fmt::format("\x1b[{}m{}\x1b[0m", rendition(colour), text);
}

std::string highlight_warning(std::string message) {
  constexpr std::string_view kPrefix = "lloyd: warning:";
  if (!message.starts_with(kPrefix) || !shows_colour(message_descriptor())) return message;
  return coloured(kPrefix, Colour::yellow) + message.substr(kPrefix.size());
}

std::string failure_message(std::string_view sentence) {
  constexpr std::string_view kPrefix = "lloyd:";
  const bool colour = shows_colour(message_descriptor());
  return fmt::format("{} {}\n", colour ? coloured(kPrefix, Colour::red) : std::string(kPrefix),
                     sentence);
}

}  // namespace lloyd::apps
