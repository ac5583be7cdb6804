// Types of dependencies: "[type = LOWER_TILE]" selects a part of a tile. The file has only the name; the program that
// runs it defines the part.
#pragma once
#include <fairlead/ptg/part.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "front/jdf/ast.hpp"

namespace fairlead::jdf {

using Types = std::map<std::string, ptg::Part, std::less<>>;

/// The predefined types: full, lower, upper, strictly_lower, strictly_upper, and PaRSEC's DEFAULT and FULL.
Types predefined_types();

/// The name of a type, for a dependency on a task or (in_data) on data.
struct TypeReference {
  /// Empty: a C expression without one of DPLASMA's macros ADTT_READ, ADTT_DC and ADTT_CP, which contain a name.
  std::string name;
  SourceRange where;
};
/// The type that a property names, or nothing if it has no value.
std::optional<TypeReference> type_from_property(const JdfFile& file, const Property& property);
/// The type of a dependency: the property `type_remote`, or (in_data) `type_data`, with `type` as the fallback. Nothing
/// if there is none.
std::optional<TypeReference> type_of_dependency(const JdfFile& file, const Dependency& dependency,
                                                bool in_data);
/// Whether the type is defined and covers a whole tile.
bool covers_whole_tile(const Types& types, const std::string& name);
/// All type names in the file's dependencies, sorted, without duplicates.
std::set<std::string> type_names(const JdfFile& file);

}  // namespace fairlead::jdf
