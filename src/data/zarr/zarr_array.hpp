// A matrix or vector in a Zarr array: a directory with a file for each chunk. Versions 2 and 3.
#pragma once
#include "data/matrix/formats.hpp"

namespace fairlead::data {

extern const MatrixFormat zarr_format;

}  // namespace fairlead::data
