// Which method solves a system if the caller gives none: the rules of Method::automatic and of --method auto.
//
// A matrix with more rows than columns is solved by QR, a square one by Cholesky. The pass that reads the matrix into
// tiles compares its triangles and looks at its diagonal, so the choice costs no pass of its own. If the matrix turns out
// not to be symmetric or not positive definite, the solve continues with LDL^T or an LU factorization, from the source, or
// without a factorization if all elements on one side of the diagonal are zero. Of
// complex matrices, Hermitian ones take the place of symmetric ones; one with A = A^T is solved by LDL^T.
#pragma once
#include <cstdint>

#include "solver/linear_system.hpp"
#include "solver/method_options.hpp"

namespace fairlead::solver {

/// Where the tasks come from and run. It decides which LU factorization is suitable.
enum class TasksRun : std::uint8_t {
  in_flow,     // on one rank
  in_graph,    // as a parameterized graph
  over_ranks,  // on several, as a flow or a graph
};

/// Sets the method, its reason and the fallbacks of `options`, whose rank tolerance is set. `given`: the caller's method;
/// null: chosen.
void choose_method(SolveOptions& options, const LinearSystem& system, const DenseOperation* given,
                   TasksRun tasks, Wording wording);

/// Why the method is triangular, for the triangle that holds all elements.
std::string reason_of_triangle(linalg::Stored triangle);
/// The options for another attempt by `fallback`, one of those in `options`, after the method failed because of `why`.
SolveOptions with_fallback(const SolveOptions& options, const DenseOperation& fallback,
                           const std::string& why);

/// The first clause of an error: the others say what the user can do.
inline std::string without_advice(std::string_view text) {
  return std::string(text.substr(0, text.find("; ")));
}

}  // namespace fairlead::solver
