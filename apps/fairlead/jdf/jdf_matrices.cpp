// See jdf_matrices.hpp.
#include "fairlead/jdf/jdf_matrices.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "algorithms/linalg/tile_functions.hpp"
#include "base/suggest.hpp"
#include "config/value.hpp"
#include "data/matrix/formats.hpp"
#include "front/jdf/parser.hpp"

namespace fairlead::app {

namespace {

/// Parses M,N,MB,NB; nothing if malformed. Numbers beyond the range become the largest number.
std::optional<std::array<std::int64_t, 4>> sizes_in(std::string_view text) {
  std::array<std::int64_t, 4> sizes{};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sizes[i]);
    if (error == std::errc::result_out_of_range)
      sizes[i] = INT64_MAX;
    else if (error != std::errc())
      return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (i + 1 == sizes.size()) break;
    if (text.empty() || text[0] != ',') return std::nullopt;
    text.remove_prefix(1);
  }
  return text.empty() ? std::optional(sizes) : std::nullopt;
}

/// ROWSxCOLUMNS.
TileSize tile_size_in(std::string_view text, const std::string& option) {
  const auto sizes = config::parse_grid(text);
  if (!sizes)
    throw ConfigError(fmt::format("{}: write ROWSxCOLUMNS, or NAME=ROWSxCOLUMNS, as in A=512x256", option));
  return {(*sizes)[0], (*sizes)[1]};
}

/// NAME=REST.
std::pair<std::string, std::string> halves_of(const std::string& text, std::string_view option,
                                              const char* form) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw ConfigError(fmt::format("{} {}: write {}", option, text, form));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

JdfMatrix described(const std::string& option, const std::array<std::int64_t, 4>& sizes, bool in_single) {
  const auto [rows, columns, tile_rows, tile_columns] = sizes;
  for (const std::int64_t size : {rows, columns, tile_rows, tile_columns})
    if (size < 1 || size > INT32_MAX)
      throw ConfigError(fmt::format("{}: sizes are from 1 to {}", option, INT32_MAX));
  JdfMatrix it;
  it.rows = rows;
  it.columns = columns;
  it.tile = {static_cast<std::int32_t>(tile_rows), static_cast<std::int32_t>(tile_columns)};
  it.in_single = in_single;
  return it;
}

void set_file(JdfMatrix& it, std::shared_ptr<const data::StoredMatrix> file) {
  it.file = std::move(file);
  data::require_real(*it.file);
  it.rows = static_cast<std::int64_t>(it.file->rows());
  it.columns = static_cast<std::int64_t>(it.file->columns());
  it.in_single = it.file->element() == data::ElementType::float32;
  if (it.rows > INT32_MAX || it.columns > INT32_MAX)
    throw InputError(fmt::format("{} has the shape {}: sizes in JDF are ints", it.file->name(),
                                 data::shape_text(it.file->shape())));
}

std::vector<std::shared_ptr<const data::StoredMatrix>> files_alone(const std::vector<std::string>& paths) {
  std::vector<std::shared_ptr<const data::StoredMatrix>> out;
  for (const std::string& path : paths) out.push_back(data::open_matrix_file(path));
  return out;
}

}  // namespace

std::vector<std::string> lines_of(const Config& config, std::string_view key) {
  std::vector<std::string> out;
  if (!config.has(key)) return out;
  std::string_view rest = config.text(key);
  while (true) {
    const std::size_t end = rest.find('\n');
    out.emplace_back(rest.substr(0, end));
    if (end == std::string_view::npos) return out;
    rest.remove_prefix(end + 1);
  }
}

std::uint32_t global_of(const jdf::JdfFile& file, std::string_view name, std::string_view option) {
  for (const std::string& written : {std::string(name), "desc" + std::string(name)})
    if (const std::uint32_t found = file.global_numbers.find(written); found != jdf::unbound_index)
      return jdf::aligned_with(file, found);
  std::vector<std::string_view> known;
  for (const jdf::Global& global : file.globals) {
    known.push_back(global.name.text);
    if (known.back().starts_with("desc")) known.push_back(known.back().substr(4));
  }
  const std::string near = did_you_mean(name, known);
  throw ConfigError(fmt::format("{}: {} has no {}{}", option, file.source.name(), name,
                                !near.empty() ? near : fmt::format("; it has {}", fmt::join(known, ", "))));
}

std::vector<JdfMatrix> matrices_given(const jdf::JdfFile& file, const Config& config, bool in_single,
                                      const FilesAt& files_at) {
  std::vector<JdfMatrix> out;
  std::vector<std::size_t> in_files;
  std::vector<std::string> paths;
  for (const std::string& text : lines_of(config, "matrix")) {
    const std::string option = "--matrix " + text;
    const auto [name, rest] =
        halves_of(text, "--matrix", "NAME=FILE.npy, or NAME=M,N,MB,NB: rows, columns and those of a tile");
    const std::uint32_t global = global_of(file, name, option);
    if (std::ranges::find(out, global, &JdfMatrix::global) != out.end())
      throw ConfigError(fmt::format("{}: {} is given twice", option, name));
    const auto sizes = sizes_in(rest);
    JdfMatrix it;
    if (sizes) {
      it = described(option, *sizes, in_single);
    } else {
      in_files.push_back(out.size());
      paths.push_back(rest);
    }
    it.global = global;
    it.name = file.globals[global].name.text;
    out.push_back(std::move(it));
  }
  const auto files = files_at ? files_at(paths) : files_alone(paths);
  for (std::size_t i = 0; i < files.size(); ++i) set_file(out[in_files[i]], files[i]);
  return out;
}

void set_tiles(const jdf::JdfFile& file, const Config& config, std::vector<JdfMatrix>& given) {
  std::vector<std::uint32_t> named;
  std::optional<TileSize> otherwise;
  for (const std::string& text : lines_of(config, "tiles")) {
    const std::string option = "--tiles " + text;
    const std::size_t equals = text.find('=');
    const TileSize size = tile_size_in(equals == std::string::npos ? text : text.substr(equals + 1), option);
    if (equals == std::string::npos) {
      if (otherwise) throw ConfigError(option + ": tiles of all matrices are already given");
      otherwise = size;
      continue;
    }
    const std::string name = text.substr(0, equals);
    const std::uint32_t global = global_of(file, name, option);
    const auto matrix = std::ranges::find(given, global, &JdfMatrix::global);
    if (matrix == given.end())
      throw ConfigError(fmt::format("{}: {} is not a matrix here: give --matrix {}=...", option, name, name));
    if (matrix->file == nullptr)
      throw ConfigError(fmt::format("{}: --matrix already gives the tiles of {}", option, name));
    if (std::ranges::find(named, global) != named.end())
      throw ConfigError(fmt::format("{}: the tiles of {} are already given", option, name));
    named.push_back(global);
    matrix->tile = size;
  }
  if (!otherwise) return;
  if (config.has("tile")) throw ConfigError("--tile and --tiles ROWSxCOLUMNS both set the size of tiles");
  for (JdfMatrix& it : given)
    if (it.tile == TileSize(0)) it.tile = *otherwise;
}

void add_outputs(const jdf::JdfFile& file, const Config& config, std::vector<JdfMatrix>& given) {
  for (const std::string& text : lines_of(config, "output")) {
    const auto [name, path] = halves_of(text, "--output", "NAME=FILE.npy, as in A=out.npy");
    const std::uint32_t global = global_of(file, name, "--output " + text);
    const auto matrix = std::ranges::find(given, global, &JdfMatrix::global);
    if (matrix == given.end())
      throw ConfigError(
          fmt::format("--output {}: {} is not a matrix here: give --matrix {}=...", text, name, name));
    if (!matrix->output.empty())
      throw ConfigError(fmt::format("--output {}: {} already goes to {}", text, name, matrix->output));
    matrix->output = path;
  }
}

void require_all_given(const jdf::JdfFile& file, const std::vector<JdfMatrix>& given) {
  std::vector<std::string> missing;
  for (std::uint32_t i = 0; i < file.globals.size(); ++i)
    if (file.globals[i].is_collection && std::ranges::find(given, i, &JdfMatrix::global) == given.end())
      missing.push_back(file.globals[i].name.text);
  if (missing.empty()) return;
  throw InputError(fmt::format("{} works on {}: give --matrix {}=FILE.npy, or --matrix {}=M,N,MB,NB",
                               file.source.name(), fmt::join(missing, ", "), missing[0], missing[0]));
}

std::shared_ptr<jdf::RunnableJdf> read_program(jdf::SourceFile source, Bodies bodies, bool prints) {
  jdf::Diagnostics diagnostics;
  jdf::JdfFile file = jdf::read(std::move(source), diagnostics);
  const auto print = [prints](const jdf::Diagnostics& all, const jdf::SourceFile& of) {
    for (const jdf::Diagnostic& it : all.sorted())
      if (prints && it.severity == jdf::Severity::error) fmt::print(stderr, "{}", jdf::shown(it, of));
    return all.errors() == 0;
  };
  if (!print(diagnostics, file.source)) return nullptr;
  jdf::Diagnostics of_bodies;
  auto program = std::make_shared<jdf::RunnableJdf>(std::move(file), linalg::tile_functions(), of_bodies);
  return bodies == Bodies::may_be_c || print(of_bodies, program->file.source) ? program : nullptr;
}

void settle(jdf::RunnableJdf& program, const std::vector<JdfMatrix>& given, const Config& config) {
  for (const JdfMatrix& it : given) program.settings.describe(it.global, it.shape());
  for (const std::string& assignment : lines_of(config, "set")) program.settings.set(assignment);
}

jdf::Types types_given(const jdf::JdfFile& file, const Config& config) {
  jdf::Types out = jdf::predefined_types();
  const std::set<std::string> there = jdf::type_names(file);
  for (const std::string& text : lines_of(config, "type")) {
    const auto [name, part] = halves_of(text, "--type", "NAME=PART, as in LOWER_TILE=strictly_lower");
    const auto known = jdf::predefined_types();
    const auto found = known.find(part);
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const auto& [one, its_part] : known) names.push_back(one);
      throw ConfigError(fmt::format("--type {}: PART must be one of {}", text, fmt::join(names, ", ")));
    }
    if (!there.contains(name)) {
      const std::vector<std::string_view> names(there.begin(), there.end());
      throw ConfigError(fmt::format("--type {}: no dependency of {} has a type of that name{}", text,
                                    file.source.name(), did_you_mean(name, names)));
    }
    out[name] = found->second;
  }
  return out;
}

}  // namespace fairlead::app
