// What a plan knows about a matrix without reading all of it: its shape, and some elements.
#pragma once
#include <fairlead/stored.hpp>

#include <cstdint>
#include <memory>
#include <string>

#include "data/matrix/stored_matrix.hpp"

namespace fairlead::solver {

/// A matrix without elements, as if in a file: zeros, if they are read.
std::shared_ptr<const data::StoredMatrix> shape_only(const std::string& name, data::ElementType element,
                                                     std::int64_t rows, std::int64_t columns);

/// Why the matrix is not positive definite, by its elements: the triangles differ, or an element of the diagonal is not
/// positive. Empty: none of the elements shows that.
struct MatrixSample {
  std::string asymmetry, not_positive;
  bool equals_transpose = true;                    ///< also if it is complex and not Hermitian
  linalg::Stored triangle = linalg::Stored::both;  ///< that holds all elements; both: neither does
};

/// Reads some blocks with their mirror images, and some elements of the diagonal. Of a matrix that is not square, or that
/// has no elements, nothing. Throws as StoredMatrix::read_block().
MatrixSample sample_of(const data::StoredMatrix& matrix);

}  // namespace fairlead::solver
