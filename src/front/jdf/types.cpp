// See types.hpp.
#include "front/jdf/types.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::jdf {

namespace {

bool of_identifier(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_' ||
         (letter >= '0' && letter <= '9');
}

/// The arguments of the call with its parenthesis at `open`, without blanks; empty if it is not closed.
std::vector<std::string> arguments_at(std::string_view text, std::size_t open) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '(' && depth++ == 0) continue;
    if (letter == ')' && --depth == 0) return out;
    if (letter == ',' && depth == 1)
      out.emplace_back();
    else if (letter != ' ' && letter != '\t' && letter != '\n' && letter != '\r')
      out.back() += letter;
  }
  return {};
}

/// The shape named by one of DPLASMA's macros for matrix types: ADTT_READ(data, place, SHAPE, layout), ADTT_DC with the
/// same arguments, ADTT_CP(copy, data, place, SHAPE). Empty if the text has none, or several different ones.
std::string shape_in(std::string_view code) {
  std::string found;
  for (const auto& [macro, argument] :
       {std::pair<std::string_view, std::size_t>{"ADTT_READ", 2}, {"ADTT_DC", 2}, {"ADTT_CP", 3}})
    for (std::size_t at = 0; (at = code.find(macro, at)) != std::string_view::npos;) {
      const std::size_t begin = at, end = at += macro.size();
      const std::size_t open = code.find_first_not_of(" \t", end);
      if ((begin > 0 && of_identifier(code[begin - 1])) || open == std::string_view::npos ||
          code[open] != '(')
        continue;
      const std::vector<std::string> arguments = arguments_at(code, open);
      if (arguments.size() != 4 || !std::ranges::all_of(arguments[argument], of_identifier)) return {};
      if (!found.empty() && found != arguments[argument]) return {};
      found = arguments[argument];
    }
  return found;
}

}  // namespace

Types predefined_types() {
  return {{"full", {}},
          {"FULL", {}},
          {"DEFAULT", {}},
          {"lower", ptg::Part::lower()},
          {"upper", ptg::Part::upper()},
          {"strictly_lower", ptg::Part::lower(false)},
          {"strictly_upper", ptg::Part::upper(false)}};
}

std::optional<TypeReference> type_of_dependency(const JdfFile& file, const Dependency& dependency,
                                                bool in_data) {
  const Property* type = find(dependency.properties, in_data ? "type_data" : "type_remote");
  if (type == nullptr) type = find(dependency.properties, "type");
  return type == nullptr ? std::nullopt : type_from_property(file, *type);
}

std::optional<TypeReference> type_from_property(const JdfFile& file, const Property& property) {
  if (property.value == no_expression) return std::nullopt;
  std::string name = word_of(property, file);
  if (name.empty()) name = shape_in(file.source.text(file.at(property.value).where));
  return TypeReference{std::move(name), property.name.where};
}

bool covers_whole_tile(const Types& types, const std::string& name) {
  const auto found = types.find(name);
  return found != types.end() && found->second.is_all();
}

std::set<std::string> type_names(const JdfFile& file) {
  std::set<std::string> names;
  for (const TaskClass& task_class : file.classes)
    for (const Flow& flow : task_class.flows)
      for (const Dependency& dependency : flow.dependencies)
        for (const Property& property : dependency.properties)
          if (property.name.text == "type" || property.name.text == "type_data" ||
              property.name.text == "type_remote")
            if (const auto type = type_from_property(file, property); type && !type->name.empty())
              names.insert(type->name);
  return names;
}

}  // namespace fairlead::jdf
