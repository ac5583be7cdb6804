// What the ways to write results have in common: numbers, ranges, bounds.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/verdict.hpp"

namespace fairlead::experiment {

/// "123", "12.3", "1.23".
std::string short_number(double value);
/// "-" where there is no point.
std::string cell(const std::optional<Figures>& point, Metric metric);
/// "90.0-130"; nothing where there is no range.
std::string text_of(const std::optional<Series::Range>& range);
/// With a blank before; nothing of nothing.
std::string in_brackets(const std::string& text);

/// The bounds that go with a metric: bytes that come to the devices, or rates.
std::vector<std::pair<std::string, double (*)(const Figures&)>> bounds_of(Metric metric);
/// Of any line at that x: bounds do not depend on the policy.
double bound_at(const Table& table, std::size_t at, double (*bound)(const Figures&));
/// At some x.
bool is_known(const Table& table, double (*bound)(const Figures&));

/// Whether points are means over several.
bool several_seeds(const Series& series);

}  // namespace fairlead::experiment
