// What of a file only C can say: inline C that is more than an expression, functions and macros of the prologue. A compiler may
// make functions of it, of the locals that it mentions.
#pragma once
#include <set>
#include <string>
#include <string_view>

#include "front/jdf/tree.hpp"

namespace fairlead::jdf {

/// Fills File::c_leaves and Expression::c_slots. The names of the file are bound.
void find_c_leaves(File& file);

/// The words of a text of C: its names and keywords.
std::set<std::string, std::less<>> words_of_c(std::string_view text);

/// A call of a function that needs no C: the smaller and the larger of two ints.
bool is_known_call(const Expression& it);

}  // namespace fairlead::jdf
