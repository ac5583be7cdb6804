// The measured links of a machine, as text and JSON.
#pragma once
#include <string>

#include "base/json.hpp"
#include "model/kept_link.hpp"

namespace fairlead::report {

/// A heading, and a line for each link; empty without links.
std::string links_text(const model::KeptLinks& links);
Json links_json(const model::KeptLinks& links);

}  // namespace fairlead::report
