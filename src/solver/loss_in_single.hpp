// What a solution in double precision loses in single precision.
#pragma once
#include <cstdint>
#include <vector>

namespace fairlead::solver {

/// The relative error of the solution in single precision, the maximum over columns; infinite for numbers out
/// of range. `x`: `rows` elements per column, one column after the other. `left_out`: columns that do not
/// count, in order.
double lost_in_single(const double* x, std::int64_t rows, std::int64_t columns,
                      const std::vector<std::int64_t>& left_out = {});
/// The columns without a number of full precision in single: their solutions cannot be expected to have one
/// either.
std::vector<std::int64_t> columns_below_single(const double* b, std::int64_t rows, std::int64_t columns);

}  // namespace fairlead::solver
