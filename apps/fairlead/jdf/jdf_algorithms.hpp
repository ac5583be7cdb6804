// Algorithms whose task graphs are in JDF: the files of examples/jdf, which are embedded in the command.
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "front/jdf_graph/runnable_jdf.hpp"
#include "simulate/workload.hpp"

namespace fairlead::app {

/// Whether there is an algorithm of that name: "cholesky", "lu", "gemm".
bool is_in_jdf(std::string_view algorithm) noexcept;

/// Matrices by the names of the file's globals.
template <class T>
using MatricesOfJdf = std::vector<std::pair<std::string_view, const TiledMatrix<T>*>>;

/// Adds the tasks to the graph; their bodies are interpreted. Products are C := A B + C. The matrices must
/// stay.
template <class T>
void add_jdf_algorithm(ptg::Graph& graph, std::string_view algorithm, const MatricesOfJdf<T>& matrices,
                       const linalg::Kernels& kernels);

/// The same for square matrices of that size without data.
std::shared_ptr<const jdf::RunnableJdf> jdf_algorithm(std::string_view algorithm,
                                                      const simulate::WorkloadSize& size);

}  // namespace fairlead::app
