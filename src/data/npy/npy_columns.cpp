// See npy_columns.hpp.
#include "data/npy/npy_columns.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <complex>
#include <type_traits>
#include <vector>

#include "base/scalar.hpp"

namespace fairlead::data {

namespace {

template <class Stored, class T>
void write_as(NpyWriter& out, const T* x, std::uint64_t ld, std::uint64_t rows, std::uint64_t columns,
              std::span<std::byte> staging) {
  if constexpr (std::is_same_v<Stored, T>) {
    out.write_block<T>(0, rows, 0, columns, x, ld, staging);
  } else {
    std::vector<Stored> some;
    const std::uint64_t at_once = std::max<std::uint64_t>(1, (std::uint64_t{1} << 17) / columns);
    for (std::uint64_t row = 0; row < rows; row += at_once) {
      const auto count = std::min(at_once, rows - row);
      some.resize(count * columns);
      for (std::uint64_t j = 0; j < columns; ++j)
        for (std::uint64_t i = 0; i < count; ++i)
          some[i + j * count] = scalar_cast<Stored>(x[row + i + j * ld]);
      out.write_block<Stored>(row, count, 0, columns, some.data(), count, staging);
    }
  }
}

}  // namespace

template <class T>
void write_columns(NpyWriter& out, ElementType element, const T* x, std::uint64_t ld, std::uint64_t rows,
                   std::uint64_t columns, std::span<std::byte> staging) {
  with_scalar(element, [&]<class Stored>() {
    if constexpr (is_complex_number<Stored> == is_complex_number<T>)
      write_as<Stored>(out, x, ld, rows, columns, staging);
    else
      throw UsageError("the elements and their file are not both complex");
  });
}

#define FAIRLEAD_WRITE_COLUMNS_OF(T)                                                              \
  template void write_columns<T>(NpyWriter&, ElementType, const T*, std::uint64_t, std::uint64_t, \
                                 std::uint64_t, std::span<std::byte>);
FAIRLEAD_WRITE_COLUMNS_OF(float)
FAIRLEAD_WRITE_COLUMNS_OF(double)
FAIRLEAD_WRITE_COLUMNS_OF(std::complex<float>)
FAIRLEAD_WRITE_COLUMNS_OF(std::complex<double>)
#undef FAIRLEAD_WRITE_COLUMNS_OF

}  // namespace fairlead::data
