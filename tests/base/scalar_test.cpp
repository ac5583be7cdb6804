// Elements that are real or complex.
#include "base/scalar.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

namespace fairlead {
namespace {

using Complex = std::complex<double>;
constexpr double infinity = std::numeric_limits<double>::infinity(),
                 none = std::numeric_limits<double>::quiet_NaN();

TEST(Scalars, TheirTypesAreThoseOfNumPy) {
  EXPECT_EQ(element_type_of<float>, ElementType::float32);
  EXPECT_EQ(element_type_of<double>, ElementType::float64);
  EXPECT_EQ(element_type_of<std::complex<float>>, ElementType::complex64);
  EXPECT_EQ(element_type_of<Complex>, ElementType::complex128);
  for (const ElementType type :
       {ElementType::float32, ElementType::float64, ElementType::complex64, ElementType::complex128}) {
    EXPECT_EQ(with_scalar(type, []<class T>() { return element_type_of<T>; }), type);
    EXPECT_EQ(with_scalar(type, []<class T>() { return sizeof(T); }), bytes_of(type));
    EXPECT_EQ(with_scalar(type, []<class T>() { return is_complex_number<T>; }), is_complex(type));
  }
}

TEST(Scalars, MagnitudesNeitherOverflowNorUnderflow) {
  for (const double size : {1e-320, 1e-308, 1e-200, 1e-140, 1.0, 1e140, 1e200, 3e307})
    EXPECT_DOUBLE_EQ(magnitude(Complex(0.6 * size, -0.8 * size)), size) << size;
  EXPECT_EQ(magnitude(Complex(0, 0)), 0);
  EXPECT_EQ(magnitude(-2.5f), 2.5);
  EXPECT_FLOAT_EQ(static_cast<float>(magnitude(std::complex<float>(3e-40f, 4e-40f))), 5e-40f);
  EXPECT_EQ(magnitude(Complex(infinity, 1)), infinity);
  EXPECT_TRUE(std::isnan(magnitude(Complex(none, 1))) && std::isnan(magnitude(Complex(infinity, none))));
}

TEST(Scalars, BothPartsMustBeFinite) {
  EXPECT_TRUE(is_finite_number(Complex(1, 2)) && is_finite_number(3.0f));
  for (const Complex bad : {Complex(none, 0), Complex(0, none), Complex(infinity, 0), Complex(0, -infinity)})
    EXPECT_FALSE(is_finite_number(bad));
  EXPECT_TRUE(is_not_a_number(Complex(0, none)) && !is_not_a_number(Complex(0, infinity)));
}

TEST(Scalars, RealNumbersBecomeComplex) {
  EXPECT_EQ((scalar_cast<Complex>(1.5f)), Complex(1.5, 0));
  EXPECT_EQ((scalar_cast<std::complex<float>>(Complex(0.1, 2))), std::complex<float>(0.1f, 2));
  EXPECT_EQ((scalar_cast<float>(0.1)), 0.1f);
  EXPECT_EQ(conjugate(Complex(1, 2)), Complex(1, -2));
  EXPECT_EQ(times_power_of_two(Complex(1, -3), 4), Complex(16, -48));
}

TEST(Scalars, MessagesHaveBothParts) {
  EXPECT_EQ(number_text(1.5), "1.5");
  EXPECT_EQ(number_text(Complex(1.5, -2)), "1.5-2i");
  EXPECT_EQ(number_text(std::complex<float>(0, 1)), "0+1i");
}

}  // namespace
}  // namespace fairlead
