// The headers for the C code of JDF files, embedded in the library so that they are available wherever it is installed.
#pragma once
#include <span>

#include "base/embedded_file.hpp"

namespace fairlead::jdf {

/// The headers <fairlead/...>.
std::span<const EmbeddedFile> c_headers();
/// The headers with PaRSEC's and DPLASMA's names.
std::span<const EmbeddedFile> parsec_headers();

}  // namespace fairlead::jdf
