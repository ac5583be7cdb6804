// See solution.hpp.
#include "fairlead/solve/solution.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <type_traits>
#include <vector>

#include "base/scalar.hpp"
#include "fairlead/problem/dense_report.hpp"
#include "fairlead/subcommand.hpp"
#include "solver/trust.hpp"

namespace fairlead::app {

using solver::wrong_answer;

namespace {

template <class Stored, class T>
void write_as(data::NpyWriter& out, const T* x, std::uint64_t ld, std::uint64_t rows, std::uint64_t columns,
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
void write_solution(data::NpyWriter& out, data::ElementType element, const T* x, std::uint64_t ld,
                    std::uint64_t rows, std::uint64_t columns, std::span<std::byte> staging) {
  with_scalar(element, [&]<class Stored>() {
    if constexpr (is_complex_number<Stored> == is_complex_number<T>)
      write_as<Stored>(out, x, ld, rows, columns, staging);
    else
      throw UsageError("the solution and its file are not both complex");
  });
}
template void write_solution<float>(data::NpyWriter&, data::ElementType, const float*, std::uint64_t,
                                    std::uint64_t, std::uint64_t, std::span<std::byte>);
template void write_solution<double>(data::NpyWriter&, data::ElementType, const double*, std::uint64_t,
                                     std::uint64_t, std::uint64_t, std::span<std::byte>);
template void write_solution<std::complex<float>>(data::NpyWriter&, data::ElementType,
                                                  const std::complex<float>*, std::uint64_t, std::uint64_t,
                                                  std::uint64_t, std::span<std::byte>);
template void write_solution<std::complex<double>>(data::NpyWriter&, data::ElementType,
                                                   const std::complex<double>*, std::uint64_t, std::uint64_t,
                                                   std::uint64_t, std::span<std::byte>);

std::optional<int> required_digits(const Config& config) {
  if (!config.has("require-digits")) return std::nullopt;
  return static_cast<int>(config.count("require-digits"));
}

int publish_solution(const report::RunReport& report, const Config& config,
                     std::span<const trace::Snapshot> recorded) {
  const auto wrong = wrong_answer(report);
  try {
    publish(report, config, recorded);
  } catch (const Error& error) {
    if (wrong) throw;
    throw SystemError(
        fmt::format("{}\n  The solution is in {} all the same.", error.what(), report.solution));
  }
  if (!wrong) return success;
  std::fflush(stdout);  // print the report before the error
  fmt::print(stderr, "fairlead: {}. {}\n", *wrong,
             config.flag("keep-anyway")
                 ? fmt::format("It is in {} all the same", config.text("output"))
                 : fmt::format("{} has not been written; --keep-anyway writes it", config.text("output")));
  return wrong_result;
}

}  // namespace fairlead::app
