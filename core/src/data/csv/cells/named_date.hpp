// Dates with the English name of a month, in the cells of a text file.
#pragma once

#include <string_view>

namespace lloyd {

/// True for a date such as Jan 1 2024, January 1st, 2024, 1 Jan 24, Jan 2024 or Jan-24, perhaps
/// behind a day of the week and before a time.
bool is_named_date(std::string_view text);

/// True for a day and the English name of a month without a year: 1 Jan, 31. December, 1st-Feb.
bool is_day_and_month(std::string_view text);

}  // namespace lloyd
