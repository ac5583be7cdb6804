// The product of stored matrices: blocks of C stay in memory while tiles of A and B stream past.
#pragma once
#include <fairlead/product.hpp>

#include <complex>
#include <memory>

#include "data/matrix/stored_matrix.hpp"

namespace fairlead::solver {

/// See linalg::multiply(). A real matrix counts as a complex one if T is complex.
template <class T>
void multiply_stored(const std::shared_ptr<const data::StoredMatrix>& a,
                     const std::shared_ptr<const data::StoredMatrix>& b, linalg::MatrixSink<T>& c,
                     const linalg::ProductOptions& options);

extern template void multiply_stored<float>(const std::shared_ptr<const data::StoredMatrix>&,
                                            const std::shared_ptr<const data::StoredMatrix>&,
                                            linalg::MatrixSink<float>&, const linalg::ProductOptions&);
extern template void multiply_stored<double>(const std::shared_ptr<const data::StoredMatrix>&,
                                             const std::shared_ptr<const data::StoredMatrix>&,
                                             linalg::MatrixSink<double>&, const linalg::ProductOptions&);
extern template void multiply_stored<std::complex<float>>(const std::shared_ptr<const data::StoredMatrix>&,
                                                          const std::shared_ptr<const data::StoredMatrix>&,
                                                          linalg::MatrixSink<std::complex<float>>&,
                                                          const linalg::ProductOptions&);
extern template void multiply_stored<std::complex<double>>(const std::shared_ptr<const data::StoredMatrix>&,
                                                           const std::shared_ptr<const data::StoredMatrix>&,
                                                           linalg::MatrixSink<std::complex<double>>&,
                                                           const linalg::ProductOptions&);

}  // namespace fairlead::solver
