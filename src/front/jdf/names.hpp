// What the names of a JDF file mean, and whether that makes sense: every name is bound to a global, a member, a local, a
// task class or a flow, or told with what was probably meant.
#pragma once
#include "front/jdf/diagnostics.hpp"
#include "front/jdf/tree.hpp"

namespace fairlead::jdf {

/// Binds all names of a file, then looks at flows and dependencies (check_flows).
void bind_names(File& file, Diagnostics& diagnostics);

/// Directions, numbers of arguments, what feeds what: for files whose names are bound.
void check_flows(const File& file, Diagnostics& diagnostics);

/// The members that a described matrix has: mt, nt, m, n, mb, nb, lm, ln, lmt, lnt, i, j, bsiz.
bool is_matrix_member(std::string_view name) noexcept;

}  // namespace fairlead::jdf
