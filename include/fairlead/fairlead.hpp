// Includes the core interface: runtime, configuration, codelets, flows, recordings, tiled matrices, statistics and
// errors. Linear algebra, parameterized task graphs, ranks, messages, CUDA and OpenCL have their own headers.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/config.hpp>
#include <fairlead/error.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/recording.hpp>
#include <fairlead/refresh.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/statistics.hpp>
#include <fairlead/team.hpp>
#include <fairlead/tiled_matrix.hpp>
#include <fairlead/version.hpp>
