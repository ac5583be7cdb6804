// See jdf_algorithms.hpp.
#include "solver/jdf/jdf_algorithms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>

#include "algorithms/linalg/tile_functions.hpp"
#include "front/jdf/parser.hpp"
#include "front/jdf_graph/codelets.hpp"

namespace fairlead::solver {

namespace {
const EmbeddedFile* find_text(std::string_view algorithm) noexcept {
  const auto files = jdf_algorithm_files();
  const auto found = std::ranges::find_if(files, [algorithm](const EmbeddedFile& file) {
    return file.name.starts_with(algorithm) && file.name.substr(algorithm.size()) == ".jdf";
  });
  return found == files.end() ? nullptr : &*found;
}

/// The file is for tiles of double.
std::string in_precision(std::string text, bool single) {
  if (single)
    for (std::size_t at = 0; (at = text.find("tile_d", at)) != std::string::npos; ++at)
      text.replace(at, 6, "tile_s");
  return text;
}

using Shapes = std::vector<std::pair<std::string_view, jdf::MatrixShape>>;

std::shared_ptr<jdf::RunnableJdf> read_program(std::string_view algorithm, bool single,
                                               const Shapes& shapes) {
  const EmbeddedFile* const text = find_text(algorithm);
  if (text == nullptr) throw UsageError(fmt::format("there is no {} in JDF", algorithm));
  jdf::Diagnostics diagnostics;
  jdf::JdfFile file = jdf::read(
      jdf::SourceFile(std::string(text->name), in_precision(std::string(text->text), single)), diagnostics);
  const auto program =
      std::make_shared<jdf::RunnableJdf>(std::move(file), linalg::tile_functions(), diagnostics);
  if (diagnostics.errors() != 0)
    throw Error(fmt::format("the JDF of {}: {}", algorithm,
                            jdf::shown(diagnostics.sorted().front(), program->file.source)));
  for (const auto& [name, shape] : shapes)
    program->settings.describe(program->file.global_numbers.find(name), shape);
  for (const auto& global : program->file.globals)
    if (global.name.text == "alpha" || global.name.text == "beta")
      program->settings.set(fmt::format("{}=1", global.name.text));
  return program;
}
}  // namespace

bool is_in_jdf(std::string_view algorithm) noexcept { return find_text(algorithm) != nullptr; }

ConfigError not_in_jdf(std::string_view algorithm) {
  return ConfigError(fmt::format("--front jdf: there is no JDF file for {}; use --front ptg", algorithm));
}

template <class T>
void add_jdf_algorithm(ptg::Graph& graph, std::string_view algorithm, const MatricesOfJdf<T>& matrices,
                       const linalg::Kernels& kernels) {
  constexpr bool single = std::is_same_v<T, float>;
  Shapes shapes;
  for (const auto& [name, matrix] : matrices)
    shapes.push_back({name, {matrix->rows(), matrix->columns(), matrix->tile(), matrix->tile()}});
  const auto program = read_program(algorithm, single, shapes);
  std::vector<jdf::BoundData> data(program->file.globals.size());
  for (const auto& [name, matrix] : matrices)
    data.at(program->file.global_numbers.find(name)) = {
        graph.data(*matrix, std::string(name)).definition(),
        single ? jdf::TilePrecision::single : jdf::TilePrecision::double_};
  static_cast<void>(jdf::lower(program, data, {}, jdf::builder_for(graph, program, kernels)));
}

std::shared_ptr<const jdf::RunnableJdf> jdf_algorithm(std::string_view algorithm, std::int64_t n,
                                                      std::int64_t tile) {
  Shapes shapes;
  for (const char* name : {"descA", "descB", "descC"})
    if (algorithm == "gemm" || shapes.empty()) shapes.push_back({name, {n, n, tile, tile}});
  return read_program(algorithm, false, shapes);  // the precision does not matter here
}

template void add_jdf_algorithm<float>(ptg::Graph&, std::string_view, const MatricesOfJdf<float>&,
                                       const linalg::Kernels&);
template void add_jdf_algorithm<double>(ptg::Graph&, std::string_view, const MatricesOfJdf<double>&,
                                        const linalg::Kernels&);

}  // namespace fairlead::solver
