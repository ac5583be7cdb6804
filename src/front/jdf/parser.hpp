// From the words of a JDF file to its tree. It goes on after a mistake, so that all of them are told at once.
#pragma once
#include "front/jdf/diagnostics.hpp"
#include "front/jdf/tree.hpp"

namespace fairlead::jdf {

/// What could be read; what could not is in `diagnostics`. Names are bound to nothing yet: see names.hpp.
File parse(Source source, Diagnostics& diagnostics);

/// Parse, bind all names, and look whether it means something: what most callers want.
File read(Source source, Diagnostics& diagnostics);

}  // namespace fairlead::jdf
