// The headers that the C of JDF files includes, inside the library: they are there wherever it is installed.
#pragma once
#include <span>

#include "base/embedded_file.hpp"

namespace fairlead::jdf {

/// <fairlead/...>.
std::span<const EmbeddedFile> c_headers();
/// Those by PaRSEC's and DPLASMA's names.
std::span<const EmbeddedFile> parsec_headers();

}  // namespace fairlead::jdf
