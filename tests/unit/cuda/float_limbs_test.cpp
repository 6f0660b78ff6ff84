// float_limbs(): how many limbs the float32 values of a data set need, and for which data sets
// there are none. The split of a value by FloatLimbs is repeated on the host; no device is needed.
#include "cuda/passes/float_limbs.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace lloyd_cuda {
namespace {

// A plan for values below 2^(exponent + bits), multiples of 2^exponent.
lloyd::SumPlan plan_of(int exponent, int bits) {
  lloyd::SumPlan plan;
  plan.features = 2;
  plan.quantum_exponents = {exponent, exponent};
  plan.value_bits = {bits, 0};
  return plan;
}

TEST(FloatLimbs, GrowWithTheBitsOfAValue) {
  EXPECT_EQ(float_limbs(plan_of(0, 0)), 1);
  EXPECT_EQ(float_limbs(plan_of(0, 22)), 1);
  EXPECT_EQ(float_limbs(plan_of(0, 23)), 2);
  EXPECT_EQ(float_limbs(plan_of(-20, 68)), 3);
  EXPECT_EQ(float_limbs(plan_of(-20, 69)), 4);
  EXPECT_EQ(float_limbs(plan_of(-20, 91)), 4);
  EXPECT_EQ(float_limbs(plan_of(-20, 92)), 0);
}

TEST(FloatLimbs, StayWithinTheRangeOfFloat32) {
  EXPECT_EQ(float_limbs(plan_of(-149, 22)), 1);
  EXPECT_EQ(float_limbs(plan_of(-150, 22)), 0);
  EXPECT_EQ(float_limbs(plan_of(103, 22)), 1);
  EXPECT_EQ(float_limbs(plan_of(104, 22)), 0);
  EXPECT_EQ(float_limbs(plan_of(57, 60)), 3);
  EXPECT_EQ(float_limbs(plan_of(58, 60)), 0);
}

// The steps of FloatLimbs::add(), whose proof is in integer_sums.cuh.
TEST(FloatLimbs, SplitTheLargestAndTheSmallestValuesExactly) {
  for (const int exponent : {-149, -60, 0, 57}) {
    for (const int bits : {24, 45, 46, 68}) {
      const int limbs = float_limbs(plan_of(exponent, bits));
      ASSERT_GT(limbs, 0);
      const float quantum = std::ldexp(1.0F, exponent);
      const float largest = std::nextafter(std::ldexp(1.0F, exponent + bits), 0.0F);
      for (const float x : {quantum, -quantum, 3 * quantum, largest, -largest}) {
        float rest = x;
        double sum = 0;  // of the limbs
        for (int limb = limbs - 1; limb >= 0; --limb) {
          const float limb_magic = std::ldexp(1.5F, 23 + exponent + limb * kFloatLimbBits);
          const volatile float biased = rest + limb_magic;
          const float part = biased - limb_magic;
          rest -= part;
          const double multiple =
              std::ldexp(static_cast<double>(part), -exponent - limb * kFloatLimbBits);
          EXPECT_EQ(multiple, std::trunc(multiple));
          EXPECT_LE(std::abs(multiple), std::ldexp(1.0, 22));
          sum += static_cast<double>(part);
        }
        EXPECT_EQ(rest, 0) << exponent << " " << bits;
        EXPECT_EQ(sum, static_cast<double>(x)) << exponent << " " << bits;
      }
    }
  }
}

}  // namespace
}  // namespace lloyd_cuda
