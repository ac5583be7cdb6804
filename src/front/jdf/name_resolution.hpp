// Name resolution and semantic checks of a JDF file. Every name is bound to a global, a member, a local, a task class
// or a flow, or reported with a suggestion.
#pragma once
#include "front/jdf/ast.hpp"
#include "front/jdf/diagnostics.hpp"

namespace fairlead::jdf {

/// Binds all names of a file, then calls check_flows().
void resolve_names(JdfFile& file, Diagnostics& diagnostics);

/// Checks directions, numbers of arguments, and that both ends of each edge agree. Requires bound names.
void check_flows(const JdfFile& file, Diagnostics& diagnostics);

/// The members of a matrix descriptor: mt, nt, m, n, mb, nb, lm, ln, lmt, lnt, i, j, bsiz.
bool is_matrix_member(std::string_view name) noexcept;

}  // namespace fairlead::jdf
