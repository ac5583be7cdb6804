// A matrix or vector in a dataset of an HDF5 file, named PATH::/DATASET.
#pragma once
#include "data/matrix/formats.hpp"

namespace fairlead::data {

extern const MatrixFormat hdf5_format;

}  // namespace fairlead::data
