// Everything: graphs of tasks on machines whose data do not fit where the computing happens.
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
