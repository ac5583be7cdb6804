// Algorithms whose task graphs are in JDF: files of examples/jdf, which are embedded in the library. They compute the same
// as the flows and parameterized graphs of that name.
#pragma once
#include <fairlead/error.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/embedded_file.hpp"
#include "front/jdf_graph/runnable_jdf.hpp"

namespace fairlead::solver {

/// "cholesky.jdf", ...
std::span<const EmbeddedFile> jdf_algorithm_files();

/// Whether there is an algorithm of that name: "cholesky", "lu", "gemm".
bool is_in_jdf(std::string_view algorithm) noexcept;
/// The error if there is none, for the setting --front.
ConfigError not_in_jdf(std::string_view algorithm);

/// Matrices by the names of the file's globals.
template <class T>
using MatricesOfJdf = std::vector<std::pair<std::string_view, const TiledMatrix<T>*>>;

/// Adds the tasks to the graph; their bodies are interpreted. Products are C := A B + C. The matrices must
/// stay.
template <class T>
void add_jdf_algorithm(ptg::Graph& graph, std::string_view algorithm, const MatricesOfJdf<T>& matrices,
                       const linalg::Kernels& kernels);

/// The same for square matrices without data, of n rows and of tiles of that side. Throws UsageError if there is no such
/// algorithm.
std::shared_ptr<const jdf::RunnableJdf> jdf_algorithm(std::string_view algorithm, std::int64_t n,
                                                      std::int64_t tile);

}  // namespace fairlead::solver
