// Reads values of globals from the command line: NAME=VALUE, and the sizes of matrices.
#include <fmt/format.h>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "base/suggest.hpp"
#include "front/jdf/evaluate.hpp"
#include "front/jdf/integer_types.hpp"
#include "front/jdf/name_resolution.hpp"
#include "front/jdf/parser.hpp"
#include "front/jdf/scope.hpp"
#include "front/jdf/token_stream.hpp"

namespace fairlead::jdf {

namespace {

std::string without_blanks(std::string_view text) {
  std::string out;
  for (const char letter : text)
    if (letter != ' ' && letter != '\t') out += letter;
  return out;
}

/// Evaluates a constant expression, such as `6`, `-1`, `1<<20` or `0.5`.
Value number(std::string_view text, const std::string& option) {
  JdfFile file(SourceFile(option, std::string(text)));
  const ExpressionId id = parse_embedded_expression(file, {0, static_cast<std::uint32_t>(text.size())});
  if (id == no_expression) throw ConfigError(fmt::format("{}: \"{}\" is not a number", option, text));
  Diagnostics diagnostics;
  std::uint32_t slots = 0;
  Scope(file, diagnostics, nullptr, 0, slots).bind(id);
  if (diagnostics.errors() != 0 || !file.c_names.empty())
    throw ConfigError(fmt::format("{}: \"{}\" is not a number", option, text));
  const Settings none(file);
  try {
    return Evaluator(file, none).value(id, {});
  } catch (const EvaluationError& error) {
    throw ConfigError(error.what());
  }
}

/// The value converted to a global's type; throws ConfigError, instead of truncating or wrapping, if it does not fit.
Value held(const Value& value, std::string_view type, const std::string& option) {
  const std::optional<IntegerType> integer = integer_type(type);
  if (!integer || (type.empty() && value.is_real())) return value;
  if (value.is_real() && std::trunc(value.real()) != value.real())
    throw ConfigError(
        fmt::format("{}: its type is {}, and {} is not an integer", option, type, value.text()));
  if (const std::optional<Value> as = as_integer(value, *integer)) return *as;
  throw ConfigError(fmt::format("{}: {} does not fit its type {}, which holds {}", option, value.text(),
                                type.empty() ? "int" : type, integer->range()));
}

}  // namespace

std::optional<std::int64_t> MatrixShape::member(std::string_view name) const {
  const auto tiles = [](std::int64_t size, std::int64_t tile) { return (size + tile - 1) / tile; };
  if (name == "mt" || name == "lmt") return tiles(rows, tile_rows);
  if (name == "nt" || name == "lnt") return tiles(columns, tile_columns);
  if (name == "m" || name == "lm") return rows;
  if (name == "n" || name == "ln") return columns;
  if (name == "mb") return tile_rows;
  if (name == "nb") return tile_columns;
  if (name == "bsiz") return tile_rows * tile_columns;
  if (name == "i" || name == "j") return 0;
  return std::nullopt;
}

Settings::Settings(const JdfFile& file)
    : file_(file),
      globals_(file.globals.size()),
      members_(file.members.size()),
      c_names_(file.c_names.size()),
      matrices_(file.globals.size()) {}

void Settings::set(std::string_view assignment) {
  const std::string option = fmt::format("--set {}", assignment);
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw ConfigError(fmt::format("{}: write NAME=VALUE, as in NT=6 or 'descA->mt=6'", option));
  const std::string name = without_blanks(assignment.substr(0, equals));
  const Value value = number(assignment.substr(equals + 1), option);
  std::vector<std::string_view> known;
  for (std::size_t i = 0; i < file_.globals.size(); ++i) {
    if (file_.globals[i].name.text == name) {
      globals_[i] = held(value, file_.globals[i].type, option);
      return;
    }
    known.push_back(file_.globals[i].name.text);
  }
  for (std::size_t i = 0; i < file_.members.size(); ++i) {
    if (file_.members[i].text == name) {
      members_[i] = is_matrix_member(file_.members[i].last) ? held(value, "int", option) : value;
      return;
    }
    known.push_back(file_.members[i].text);
  }
  for (std::size_t i = 0; i < file_.c_names.size(); ++i) {
    if (file_.c_names[i] == name) {
      c_names_[i] = value;
      return;
    }
    known.push_back(file_.c_names[i]);
  }
  throw ConfigError(
      fmt::format("{}: {} has no {}{}", option, file_.source.name(), name, did_you_mean(name, known)));
}

void Settings::describe(std::string_view matrix) {
  const std::string option = fmt::format("--matrix {}", matrix);
  const std::size_t equals = matrix.find('=');
  std::array<std::int64_t, 4> sizes{};
  std::size_t count = 0;
  bool sound = equals != std::string_view::npos && equals != 0;
  if (sound) {
    std::string_view rest = matrix.substr(equals + 1);
    while (sound && count < sizes.size()) {
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), sizes[count]);
      const bool too_large = error == std::errc::result_out_of_range || sizes[count] > INT32_MAX;
      if (too_large)
        throw ConfigError(
            fmt::format("{}: a size does not fit an int: sizes are at most {}", option, INT32_MAX));
      sound = error == std::errc() && sizes[count] >= (count < 2 ? 0 : 1);
      rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
      ++count;
      if (rest.empty()) break;
      sound = sound && rest[0] == ',';
      if (sound) rest.remove_prefix(1);
    }
    sound = sound && rest.empty() && count == sizes.size();
  }
  if (!sound)
    throw ConfigError(
        fmt::format("{}: write NAME=M,N,MB,NB: rows, columns and those of a tile, as in "
                    "descA=4000,4000,500,500",
                    option));
  const std::string name = without_blanks(matrix.substr(0, equals));
  const std::uint32_t named = global_named(file_, name, file_.globals.size());
  if (named == unbound_index) {
    std::vector<std::string_view> known;
    for (const Global& global : file_.globals) known.push_back(global.name.text);
    throw ConfigError(
        fmt::format("{}: {} has no {}{}", option, file_.source.name(), name, did_you_mean(name, known)));
  }
  describe(aligned_with(file_, named), {sizes[0], sizes[1], sizes[2], sizes[3]});
}

}  // namespace fairlead::jdf
