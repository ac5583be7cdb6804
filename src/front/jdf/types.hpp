// Types of dependencies: "[type = LOWER_TILE]" says which part of a tile is meant. A file has the names alone; what they are, the
// program says that runs it.
#pragma once
#include <fairlead/ptg/part.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "front/jdf/tree.hpp"

namespace fairlead::jdf {

using Types = std::map<std::string, ptg::Part, std::less<>>;

/// Those that everybody has: full, lower, upper, strictly_lower, strictly_upper, and PaRSEC's DEFAULT and FULL.
Types usual_types();

/// The type of a dependency on a task, or (in_data) on data.
struct TypeName {
  std::string
      name;  ///< empty: C says it, and not by one of DPLASMA's macros ADTT_READ, ADTT_DC and ADTT_CP, which name it
  Range where;
};
/// What a property says, if that is a type.
std::optional<TypeName> type_in(const File& file, const Property& property);
/// Nothing if none is said.
std::optional<TypeName> type_of(const File& file, const Dependency& dependency, bool in_data);
/// The types among them that are all of a tile.
bool is_whole(const Types& types, const std::string& name);
/// All that the file's dependencies name, each once, by the alphabet.
std::set<std::string> type_names(const File& file);

}  // namespace fairlead::jdf
