// Parses a JDF file into a syntax tree. The parser recovers from errors, so that one run reports all of them.
#pragma once
#include "front/jdf/ast.hpp"
#include "front/jdf/diagnostics.hpp"

namespace fairlead::jdf {

/// Returns the parts that could be parsed; errors go to `diagnostics`. Names are not bound yet (name_resolution.hpp).
JdfFile parse(SourceFile source, Diagnostics& diagnostics);

/// Parses, binds all names, and checks the flows: what most callers need.
JdfFile read(SourceFile source, Diagnostics& diagnostics);

}  // namespace fairlead::jdf
