// The workloads defined in this folder and their options; the list is in workload.cpp.
#pragma once
#include <array>

#include "simulate/workload.hpp"

namespace fairlead::simulate {

Program make_cholesky(const WorkloadSize& size, const PolicyOptions& options);
report::IoBounds cholesky_io(const WorkloadSize& size, Bytes memory);
Program make_lu(const WorkloadSize& size, const PolicyOptions& options);
report::IoBounds lu_io(const WorkloadSize& size, Bytes memory);
Program make_gemm(const WorkloadSize& size, const PolicyOptions& options);
report::IoBounds gemm_io(const WorkloadSize& size, Bytes memory);

inline constexpr std::array qr_options{
    PolicyOption{"tree", "flat", "how the tiles of a panel are annihilated: flat (tsqrt) or binary (ttqrt)"},
    PolicyOption{"columns", "n", "of the matrix, at most n"},
    PolicyOption{"ib", "tile / 8", "reflectors of an inner block: rows of the T factors"},
};
Program make_qr(const WorkloadSize& size, const PolicyOptions& options);

/// Its bounds are those of Cholesky.
Program make_ldlt(const WorkloadSize& size, const PolicyOptions& options);

inline constexpr std::array stencil_options{
    PolicyOption{"width", "256", "cells of a plane, one way"},
    PolicyOption{"height", "256", "cells of a plane, the other way"},
    PolicyOption{"border", "1", "planes that neighbours exchange, and iterations that a task does at once"},
    PolicyOption{"iterations", "32", "how often every cell is computed"},
    PolicyOption{"flops", "8",
                 "for each cell: seven points, a weight for its own value and one for the others"},
};
Program make_stencil(const WorkloadSize& size, const PolicyOptions& options);

inline constexpr std::array life_options{
    PolicyOption{"iterations", "32", "how often every cell is computed"},
    PolicyOption{"exchange", "planes", "what neighbours read: planes, the outermost ones, or whole blocks"},
    PolicyOption{"flops", "8", "for each cell: as many neighbours are added up"},
};
Program make_life(const WorkloadSize& size, const PolicyOptions& options);

inline constexpr std::array random_options{
    PolicyOption{"layers", "20", "one follows the other"},
    PolicyOption{"width", "n / tile", "tasks of a layer, which may all run at once"},
    PolicyOption{"data", "3", "tiles that a task uses, from 2 to 64"},
    PolicyOption{"writes", "0.4", "share of its tiles that a task writes, on average; never none, never all"},
    PolicyOption{"weights", "even",
                 "tasks are equally long, or uneven: from a quarter to four times as long"},
    PolicyOption{"seed", "1", "the same seed makes the same graph on every machine"},
};
Program make_random(const WorkloadSize& size, const PolicyOptions& options);

inline constexpr std::array wavefront_options{
    PolicyOption{"sweeps", "4", "over the whole grid"},
};
Program make_wavefront(const WorkloadSize& size, const PolicyOptions& options);

inline constexpr std::array forkjoin_options{
    PolicyOption{"phases", "10", "one follows the other"},
    PolicyOption{"width", "n / tile", "tasks of a phase, which may all run at once"},
};
Program make_forkjoin(const WorkloadSize& size, const PolicyOptions& options);

inline constexpr std::array tree_options{
    PolicyOption{"levels", "7", "of fronts: the root and what is below it"},
    PolicyOption{"seed", "1", "the same seed makes the same tree on every machine"},
};
Program make_tree(const WorkloadSize& size, const PolicyOptions& options);

inline constexpr std::array mixture_options{
    PolicyOption{"first", "cholesky", "one workload, as it is without options"},
    PolicyOption{"second", "random", "the other, which has the same n and tile"},
};
Program make_mixture(const WorkloadSize& size, const PolicyOptions& options);

}  // namespace fairlead::simulate
