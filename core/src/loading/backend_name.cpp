#include <lloyd/backend_name.hpp>

#include <algorithm>

namespace lloyd {
namespace {

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

bool is_backend_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameCharacters && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
}

std::string to_backend_name(std::string_view text) {
  std::string name;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (is_letter(c) || is_digit(c)) {
      if (name.empty() && is_digit(c)) name = "backend-";
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  name.resize(std::min(name.size(), kMaxNameCharacters));
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "my-backend" : name;
}

}  // namespace lloyd
