// What a solution in double precision loses in single precision.
#pragma once
#include <cstdint>
#include <vector>

namespace fairlead::solver {

// Below, Wide is double or std::complex<double>.

/// The relative error of the solution in single precision, the maximum over columns; infinite for numbers out
/// of range. `x`: `rows` elements per column, one column after the other. `left_out`: columns that do not
/// count, in order.
template <class Wide>
double lost_in_single(const Wide* x, std::int64_t rows, std::int64_t columns,
                      const std::vector<std::int64_t>& left_out = {});
/// The columns without a number of full precision in single: their solutions cannot be expected to have one
/// either.
template <class Wide>
std::vector<std::int64_t> columns_below_single(const Wide* b, std::int64_t rows, std::int64_t columns);

}  // namespace fairlead::solver
