// Makes the public object of factors, and what it shares with the solver.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/factorization.hpp>
#include <fairlead/solver.hpp>

#include <memory>

#include "solver/dense_problem.hpp"
#include "solver/execution.hpp"
#include "solver/factor_header.hpp"
#include "solver/kept_factors.hpp"

namespace fairlead::solver {

/// `run`: in which they were computed.
template <class T>
linalg::Factorization make_factorization(std::unique_ptr<Execution> run, KeptFactors<T> factors,
                                         FactoredMatrix matrix);

}  // namespace fairlead::solver
