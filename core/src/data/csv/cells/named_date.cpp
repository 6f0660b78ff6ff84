#include "data/csv/cells/named_date.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace lloyd {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};
constexpr std::array<std::string_view, 7> kWeekdays = {
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
constexpr std::array<std::string_view, 4> kOrdinals = {"st", "nd", "rd", "th"};
constexpr std::string_view kDigits = "0123456789";

// Takes the ASCII letters at the beginning.
std::string_view take_word(std::string_view& text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto end = std::find_if_not(text.begin(), text.end(), is_letter);
  const std::string_view word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(word.size());
  return word;
}

std::string_view take_digits(std::string_view& text) {
  const std::string_view digits = text.substr(0, text.find_first_not_of(kDigits));
  text.remove_prefix(digits.size());
  return digits;
}

bool take_separators(std::string_view& text) {
  const std::size_t count = std::min(text.find_first_not_of(" .,-/'"), text.size());
  text.remove_prefix(count);
  return count > 0;
}

bool begins_with(std::string_view name, std::string_view word) {
  constexpr unsigned kLowerCase = 0x20;
  return word.size() <= name.size() &&
         std::equal(word.begin(), word.end(), name.begin(), [](char a, char b) {
           return static_cast<char>(static_cast<unsigned char>(a) | kLowerCase) == b;
         });
}

// True for one of the names or its abbreviation: Jan, Sept, Tues.
template <std::size_t Count>
bool is_one_of(std::string_view word, const std::array<std::string_view, Count>& names) {
  constexpr std::size_t kShort = 3;
  return std::any_of(names.begin(), names.end(), [=](std::string_view name) {
    return word.size() >= kShort && begins_with(name, word);
  });
}

bool is_day(std::string_view digits) {
  return digits.size() == 1 || (digits.size() == 2 && digits <= "31");
}

bool is_year(std::string_view digits) {
  return digits.size() == 2 || digits.size() == 4;
}

// Takes the ending of a day's number: 1st. False if other letters follow.
bool take_ordinal(std::string_view& text) {
  std::string_view rest = text;
  const std::string_view word = take_word(rest);
  if (word.empty()) return true;
  if (std::find(kOrdinals.begin(), kOrdinals.end(), word) == kOrdinals.end()) return false;
  text = rest;
  return true;
}

// True if nothing or a time follows.
bool ends_date(std::string_view rest) {
  return rest.empty() || rest.front() == ':' ||
         (take_separators(rest) && !rest.empty() &&
          kDigits.find(rest.front()) != std::string_view::npos);
}

// True for the rest of a date behind its day and month.
bool ends_with_year(std::string_view rest) {
  return take_separators(rest) && is_year(take_digits(rest)) && ends_date(rest);
}

// 1 Jan 2024, 1st January 2024, 31-Jan-24.
bool is_day_first(std::string_view text) {
  if (!is_day(take_digits(text))) return false;
  std::string_view rest = text;
  if (take_ordinal(rest)) text = rest;
  take_separators(text);
  return is_one_of(take_word(text), kMonths) && ends_with_year(text);
}

// Jan 1 2024, January 1st, 2024, Jan 2024, Jan-24.
bool is_month_first(std::string_view text) {
  if (!is_one_of(take_word(text), kMonths)) return false;
  const bool has_hyphen = text.starts_with('-');
  if (!take_separators(text)) return false;
  const std::string_view digits = take_digits(text);
  if (digits.size() == 4) return ends_date(text);
  if (has_hyphen && digits.size() == 2 && text.empty()) return true;
  return is_day(digits) && take_ordinal(text) && ends_with_year(text);
}

}  // namespace

bool is_day_and_month(std::string_view text) {
  if (!is_day(take_digits(text))) return false;
  std::string_view rest = text;
  if (take_ordinal(rest)) text = rest;
  take_separators(text);
  return is_one_of(take_word(text), kMonths) && (text.empty() || text == ".");
}

bool is_named_date(std::string_view text) {
  if (text.find_first_of(kDigits) == std::string_view::npos) return false;
  if (is_day_first(text) || is_month_first(text)) return true;
  return is_one_of(take_word(text), kWeekdays) && take_separators(text) &&
         (is_day_first(text) || is_month_first(text));
}

}  // namespace lloyd
