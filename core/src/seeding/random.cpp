#include <lloyd/random.hpp>

#include <cmath>
#include <span>

namespace lloyd {
namespace {

__extension__ typedef unsigned __int128 UInt128;

constexpr std::uint32_t low_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}

constexpr std::uint32_t high_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

// Natural logarithm of a positive finite number, to about 2 units in the last place. The rounding
// of the C library's function differs between its versions; this one uses only exactly rounded
// operations.
double natural_log(double x) {
  constexpr double kLn2 = 0.693147180559945309417232121458;
  constexpr double kSqrtHalf = 0.707106781186547524400844362105;
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < kSqrtHalf) {
    mantissa *= 2;
    --exponent;
  }
  // log(m) = 2 artanh(s) with s = (m - 1) / (m + 1), |s| < 0.172. The first omitted term is below
  // 1e-18 of the sum.
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double series = 0;
  for (int odd = 21; odd >= 1; odd -= 2) series = series * square + 1.0 / odd;
  return exponent * kLn2 + 2 * s * series;
}

// Coefficients from the highest power to the lowest.
double polynomial(std::span<const double, 8> coefficients, double x) {
  double value = coefficients[0];
  for (std::size_t i = 1; i < coefficients.size(); ++i) value = value * x + coefficients[i];
  return value;
}

struct RationalFunction {
  double numerator[8];
  double denominator[8];

  double operator()(double x) const {
    return polynomial(numerator, x) / polynomial(denominator, x);
  }
};

// PPND16 of AS 241: |p - 1/2| <= 0.425.
constexpr RationalFunction kCentre{
    {2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4,
     4.5921953931549871457e+4, 1.3731693765509461125e+4, 1.9715909503065514427e+3,
     1.3314166789178437745e+2, 3.3871328727963666080e+0},
    {5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4,
     2.1213794301586595867e+4, 5.3941960214247511077e+3, 6.8718700749205790830e+2,
     4.2313330701600911252e+1, 1.0}};

// Otherwise, with r = sqrt(-log(min(p, 1 - p))) <= 5.
constexpr RationalFunction kTail{
    {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
     1.27045825245236838258e+0, 3.64784832476320460504e+0, 5.76949722146069140550e+0,
     4.63033784615654529590e+0, 1.42343711074968357734e+0},
    {1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
     1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e+0,
     2.05319162663775882187e+0, 1.0}};

// r > 5: p or 1 - p below 1.4e-11.
constexpr RationalFunction kFarTail{
    {2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
     2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e+0,
     5.46378491116411436990e+0, 6.65790464350110377720e+0},
    {2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
     7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
     5.99832206555887937690e-1, 1.0}};

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xd2511f53u} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xcd9e8d57u} * counter[2];
    counter = {high_word(product1) ^ counter[1] ^ key[0], low_word(product1),
               high_word(product0) ^ counter[3] ^ key[1], low_word(product0)};
    key[0] += 0x9e3779b9u;
    key[1] += 0xbb67ae85u;
  }
  return counter;
}

std::uint64_t RandomStream::bits(std::uint64_t index) const {
  const auto words =
      philox({low_word(index), high_word(index), low_word(stream_), high_word(stream_)},
             {low_word(seed_), high_word(seed_)});
  return (std::uint64_t{words[1]} << 32) | words[0];
}

std::uint64_t RandomStream::below(std::uint64_t bound, std::uint64_t index) const {
  return static_cast<std::uint64_t>((UInt128{bits(index)} * bound) >> 64);
}

double RandomStream::uniform(std::uint64_t index) const {
  return static_cast<double>(bits(index) >> 12) * 0x1p-52 + 0x1p-53;
}

double RandomStream::normal(std::uint64_t index) const {
  return inverse_normal(uniform(index));
}

double inverse_normal(double p) {
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) return q * kCentre(0.180625 - q * q);
  const double r = std::sqrt(-natural_log(q < 0 ? p : 1 - p));
  const double magnitude = r <= 5 ? kTail(r - 1.6) : kFarTail(r - 5);
  return q < 0 ? -magnitude : magnitude;
}

}  // namespace lloyd
