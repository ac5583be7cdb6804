// Finds the expressions that need a C compiler: inline C that is more than an expression, and functions and macros of
// the prologue. Each can be compiled to a function of the locals that it mentions.
#pragma once
#include <set>
#include <string>
#include <string_view>

#include "front/jdf/ast.hpp"

namespace fairlead::jdf {

/// Fills File::c_leaves and Expression::c_slots. Requires bound names.
void find_c_expressions(JdfFile& file);

/// The identifiers and keywords in a piece of C code.
std::set<std::string, std::less<>> words_of_c(std::string_view text);

/// Whether a call can be evaluated without C: the minimum or the maximum of two ints.
bool is_known_call(const Expression& it);

}  // namespace fairlead::jdf
