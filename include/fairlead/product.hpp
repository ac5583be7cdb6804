// The product of two matrices that may be larger than memory, from their sources to a sink.
//
//   fairlead::linalg::multiply("A.npy", "B.npy", "C.npy", {.memory = 2_GiB});
//
// For products of tiled matrices, as part of a flow: <fairlead/linalg.hpp>.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/matrix_file.hpp>
#include <fairlead/matrix_sink.hpp>
#include <fairlead/matrix_source.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>

namespace fairlead::linalg {

struct ProductOptions {
  Bytes memory = 0;         ///< limit of the memory in addition to that of sources and sinks; 0: what is free
  std::int32_t tile = 0;    ///< side of a tile in elements; 0: chosen
  std::size_t workers = 0;  ///< threads that compute; 0: one for each core
  Config config = Config::from_environment();  ///< all other settings (docs/configuration.md)
  /// Once a stop is requested, which any thread may do, the call ends early with CancelledError.
  std::stop_token stop{};
};

/// C = A B, computed in the type of C's elements. A and B are read several times if a block of C that fits in memory is
/// smaller than C; nothing is written but C. Elements that are not finite are allowed, with the results of arithmetic.
/// Throws UsageError if the shapes do not match; InputError or SystemError if a source cannot be read or the sink fails;
/// ConfigError if the memory limit is too small.
void multiply(const MatrixSource<double>& a, const MatrixSource<double>& b, MatrixSink<double>& c,
              const ProductOptions& options = {});
void multiply(const MatrixSource<double>& a, const MatrixSource<double>& b, MatrixSink<float>& c,
              const ProductOptions& options = {});
void multiply(const MatrixSource<std::complex<double>>& a, const MatrixSource<std::complex<double>>& b,
              MatrixSink<std::complex<double>>& c, const ProductOptions& options = {});
void multiply(const MatrixSource<std::complex<double>>& a, const MatrixSource<std::complex<double>>& b,
              MatrixSink<std::complex<float>>& c, const ProductOptions& options = {});
/// Of matrices in files, as for open_matrix(), real or complex, to a .npy file: complex if A or B is, in single precision if
/// both are.
void multiply(const std::string& a, const std::string& b, const std::string& c,
              const ProductOptions& options = {});

}  // namespace fairlead::linalg
