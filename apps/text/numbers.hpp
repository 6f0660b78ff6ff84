// Numbers formatted for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <lloyd/internal/format_count.hpp>

namespace lloyd::experiment {

/// At least three significant digits: "1.23", "45.6", "1234", "1.23e+07"; "-" for NaN.
std::string format_number(double value);
/// The smallest number of significant digits, `minimum` to 17, with which different values have
/// different texts. Differences of a few units in the last place of float64 do not count. If it is
/// more than `minimum`, it covers at least the digits before the decimal point of every value.
int distinguishing_digits(std::vector<double> values, int minimum);
/// "12.3 MiB".
std::string format_bytes(std::int64_t bytes);
/// "1 h 05 min", "2 min 05 s", "12 s".
std::string format_seconds(double seconds);
/// "200 000": digits in groups of three, for a count >= 0.
std::string format_grouped(std::int64_t count);
/// "12.3 ms"; from 1000 ms on in seconds: "1.23 s", "1234 s".
std::string format_ms(double ms);

}  // namespace lloyd::experiment
