// The tables that compare runs.
#pragma once
#include <string>

#include "report/comparison.hpp"

namespace fairlead::report::html {

std::string compared_tables(const Comparison& comparison);

}  // namespace fairlead::report::html
