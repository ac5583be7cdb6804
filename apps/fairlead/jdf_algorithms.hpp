// Algorithms whose task graphs are said in JDF: the files of examples/jdf, which are a part of the command.
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "front/jdf_graph/program.hpp"
#include "simulate/workload.hpp"

namespace fairlead::app {

/// Whether there is one of that name: "cholesky", "lu", "gemm".
bool is_in_jdf(std::string_view algorithm) noexcept;

/// Matrices by the names of the file's globals.
template <class T>
using MatricesOfJdf = std::vector<std::pair<std::string_view, const TiledMatrix<T>*>>;

/// Puts the tasks into the graph, whose bodies are interpreted. Products are C := A B + C. The matrices stay.
template <class T>
void add_jdf_algorithm(ptg::Graph& graph, std::string_view algorithm, const MatricesOfJdf<T>& matrices,
                       const linalg::Kernels& kernels);

/// The same for square matrices of that size, of which nothing is there but the shape.
std::shared_ptr<const jdf::Program> jdf_algorithm(std::string_view algorithm,
                                                  const simulate::WorkloadSize& size);

}  // namespace fairlead::app
