// See types.hpp.
#include "front/jdf/types.hpp"

namespace fairlead::jdf {

Types usual_types() {
  return {{"full", {}},
          {"FULL", {}},
          {"DEFAULT", {}},
          {"lower", ptg::Part::lower()},
          {"upper", ptg::Part::upper()},
          {"strictly_lower", ptg::Part::lower(false)},
          {"strictly_upper", ptg::Part::upper(false)}};
}

std::optional<TypeName> type_of(const File& file, const Dependency& dependency, bool in_data) {
  const Property* type = find(dependency.properties, in_data ? "type_data" : "type_remote");
  if (type == nullptr) type = find(dependency.properties, "type");
  if (type == nullptr || type->value == no_expression) return std::nullopt;
  return TypeName{word_of(*type, file), type->name.where};
}

std::set<std::string> type_names(const File& file) {
  std::set<std::string> names;
  for (const TaskClass& task_class : file.classes)
    for (const Flow& flow : task_class.flows)
      for (const Dependency& dependency : flow.dependencies)
        for (const bool in_data : {false, true})
          if (const auto type = type_of(file, dependency, in_data); type && !type->name.empty())
            names.insert(type->name);
  return names;
}

}  // namespace fairlead::jdf
