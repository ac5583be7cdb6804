// The end of a solve: writes the solution and the reports, and prints errors.
#pragma once
#include <fairlead/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/npy/npy_writer.hpp"
#include "report/run_report.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::app {

/// Writes `rows` x `columns` elements, `ld` from one column to the next, as `element`.
template <class T>
void write_solution(data::NpyWriter& out, data::ElementType element, const T* x, std::uint64_t ld,
                    std::uint64_t rows, std::uint64_t columns, std::span<std::byte> staging);

/// --require-digits; nothing if it is not given.
std::optional<int> required_digits(const Config& config);

/// The relative error of the solution in single precision, the maximum over columns; infinite for numbers out
/// of range. `x`: `rows` elements per column, one column after the other. `left_out`: columns that do not
/// count, in order.
double lost_in_single(const double* x, std::int64_t rows, std::int64_t columns,
                      const std::vector<std::int64_t>& left_out = {});
/// The columns without a number of full precision in single: their solutions cannot be expected to have one
/// either.
std::vector<std::int64_t> columns_below_single(const double* b, std::int64_t rows, std::int64_t columns);

/// Publishes the report, and prints to the standard error stream why the result is wrong, if it is. Returns
/// an ExitCode.
int publish_solution(const report::RunReport& report, const Config& config,
                     std::span<const trace::Snapshot> recorded);

}  // namespace fairlead::app
