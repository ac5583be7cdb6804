// Functions shared by the output formats: numbers, ranges, bounds.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/verdict.hpp"

namespace fairlead::experiment {

/// "123", "12.3", "1.23".
std::string short_number(double value);
/// "-" if the point is missing.
std::string cell(const std::optional<Figures>& point, Metric metric);
/// "90.0-130"; empty without a range.
std::string text_of(const std::optional<Series::Range>& range);
/// " (text)"; empty if `text` is.
std::string in_brackets(const std::string& text);

/// The bounds of a metric: of bytes loaded to devices, or of rates.
std::vector<std::pair<std::string, double (*)(const Figures&)>> bounds_of(Metric metric);
/// The bound at x number `at`, from any line: bounds do not depend on the policy.
double bound_at(const Table& table, std::size_t at, double (*bound)(const Figures&));
/// True if the bound is known at some x.
bool is_known(const Table& table, double (*bound)(const Figures&));

/// True if points are means over several seeds.
bool several_seeds(const Series& series);

}  // namespace fairlead::experiment
