// See jdf_algorithms.hpp.
#include "fairlead/jdf_algorithms.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>

#include "algorithms/linalg/tile_functions.hpp"
#include "fairlead/jdf_texts.hpp"
#include "front/jdf/parser.hpp"
#include "front/jdf_graph/codelets.hpp"

namespace fairlead::app {

namespace {
const JdfText* find_text(std::string_view algorithm) noexcept {
  const auto found = std::ranges::find(jdf_texts, algorithm, &JdfText::name);
  return found == std::end(jdf_texts) ? nullptr : &*found;
}

/// The file is for tiles of double.
template <class T>
std::string in_precision(std::string text) {
  if constexpr (std::is_same_v<T, float>)
    for (std::size_t at = 0; (at = text.find("tile_d", at)) != std::string::npos; ++at)
      text.replace(at, 6, "tile_s");
  return text;
}
}  // namespace

bool is_in_jdf(std::string_view algorithm) noexcept { return find_text(algorithm) != nullptr; }

template <class T>
void add_jdf_algorithm(ptg::Graph& graph, std::string_view algorithm, const MatricesOfJdf<T>& matrices,
                       const linalg::Kernels& kernels) {
  const JdfText* const text = find_text(algorithm);
  if (text == nullptr) throw UsageError(fmt::format("there is no {} in JDF", algorithm));
  jdf::Diagnostics diagnostics;
  jdf::File file = jdf::read(
      jdf::Source(fmt::format("{}.jdf", algorithm), in_precision<T>(std::string(text->text))), diagnostics);
  const auto program = std::make_shared<jdf::Program>(std::move(file), linalg::tile_functions(), diagnostics);
  if (diagnostics.errors() != 0)
    throw Error(fmt::format("the JDF of {}: {}", algorithm,
                            jdf::shown(diagnostics.sorted().front(), program->file.source)));
  const auto& globals = program->file.globals;
  std::vector<jdf::BoundData> data(globals.size());
  constexpr auto precision = std::is_same_v<T, float> ? jdf::Precision::single : jdf::Precision::double_;
  for (const auto& [name, matrix] : matrices) {
    program->settings.describe(fmt::format("{}={},{},{},{}", name, matrix->rows(), matrix->columns(),
                                           matrix->tile(), matrix->tile()));
    data.at(program->file.global_numbers.find(name)) = {graph.data(*matrix, std::string(name)).definition(),
                                                        precision};
  }
  for (const auto& global : globals)
    if (global.name.text == "alpha" || global.name.text == "beta")
      program->settings.set(fmt::format("{}=1", global.name.text));
  static_cast<void>(jdf::lower(program, data, {}, jdf::maker_of(graph, program, kernels)));
}

template void add_jdf_algorithm<float>(ptg::Graph&, std::string_view, const MatricesOfJdf<float>&,
                                       const linalg::Kernels&);
template void add_jdf_algorithm<double>(ptg::Graph&, std::string_view, const MatricesOfJdf<double>&,
                                        const linalg::Kernels&);

}  // namespace fairlead::app
