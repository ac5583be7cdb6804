// Looks at what is read of a matrix, wherever pieces of it are read: elements that are not finite are refused, and of a
// matrix that should be symmetric each piece is compared with its mirror image. Every element has to be read by somebody;
// what several have found is put together.
#pragma once
#include <fairlead/error.hpp>
#include <fairlead/matrix_source.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::linalg {

template <class T>
class CheckedSource final : public MatrixSource<T> {
 public:
  /// `name`: of the matrix, for messages. `tolerance`: how far mirrored elements may be apart, relative to the largest of
  /// all; negative: they are not looked at.
  CheckedSource(std::shared_ptr<const MatrixSource<double>> source, std::string name, double tolerance)
      : source_(std::move(source)), name_(std::move(name)), tolerance_(tolerance) {}

  std::int64_t rows() const override { return source_->rows(); }
  std::int64_t columns() const override { return source_->columns(); }
  void read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count, T* out,
            std::int64_t ld) const override {
    std::vector<double> strip(static_cast<std::size_t>(row_count * std::min(column_count, width)));
    std::vector<double> mirrored(tolerance_ < 0 ? 0 : strip.size());
    Found found{};
    for (std::int64_t j = 0; j < column_count; j += width) {
      const std::int64_t columns = std::min(width, column_count - j);
      source_->read(row, row_count, column + j, columns, strip.data(), row_count);
      if (tolerance_ >= 0) source_->read(column + j, columns, row, row_count, mirrored.data(), columns);
      for (std::int64_t c = 0; c < columns; ++c)
        for (std::int64_t r = 0; r < row_count; ++r) {
          const double element = strip[static_cast<std::size_t>(r + c * row_count)];
          if (!std::isfinite(element)) not_finite(row + r, column + j + c, element);
          out[r + (j + c) * ld] = static_cast<T>(element);
          found[largest] = std::max(found[largest], std::abs(element));
          if (tolerance_ < 0) continue;
          const double image = mirrored[static_cast<std::size_t>(c + r * columns)];
          if (!std::isfinite(image)) not_finite(column + j + c, row + r, image);
          found[largest] = std::max(found[largest], std::abs(image));
          if (const double apart = std::abs(element - image); apart > found[difference])
            found = {found[largest], apart, static_cast<double>(row + r), static_cast<double>(column + j + c),
                     element,        image};
        }
    }
    const std::lock_guard guard(mutex_);
    merge(found_, found);
  }

  /// What was found, as numbers that other processes can be told.
  using Found = std::array<double, 6>;
  Found found() const {
    const std::lock_guard guard(mutex_);
    return found_;
  }
  /// Throws NumericalError naming the place where mirrored elements differ most, if that is too much.
  void require_symmetric(std::span<const double> of_all) const {
    Found all{};
    for (std::size_t i = 0; i + all.size() <= of_all.size(); i += all.size()) {
      Found one{};
      std::copy_n(of_all.begin() + static_cast<std::ptrdiff_t>(i), one.size(), one.begin());
      merge(all, one);
    }
    if (tolerance_ < 0 || all[difference] <= tolerance_ * all[largest]) return;
    throw NumericalError(fmt::format(
        "{} is not symmetric: the element in row {}, column {} (counted from 0) is {}, its mirror image {}",
        name_, all[2], all[3], all[4], all[5]));
  }

 private:
  static constexpr std::int64_t width = 128;                 // columns that are looked at together
  static constexpr std::size_t largest = 0, difference = 1;  // of Found; then where, and the two elements
  static void merge(Found& all, const Found& one) {
    const double size = std::max(all[largest], one[largest]);
    if (one[difference] > all[difference]) all = one;
    all[largest] = size;
  }
  [[noreturn]] void not_finite(std::int64_t row, std::int64_t column, double value) const {
    throw NumericalError(fmt::format("{}: the element in row {}, column {} (counted from 0) is {}", name_,
                                     row, column, std::isnan(value) ? "not a number (NaN)" : "infinite"));
  }

  const std::shared_ptr<const MatrixSource<double>> source_;
  const std::string name_;
  const double tolerance_;
  mutable std::mutex mutex_;  // guards found_
  mutable Found found_{};
};

}  // namespace fairlead::linalg
