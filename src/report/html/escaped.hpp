// Text that may stand in markup.
#pragma once
#include <string>
#include <string_view>

namespace fairlead::report::html {

/// With <, >, & and " as entities, whether it stands between tags or in an attribute's quotes.
std::string escaped(std::string_view text);

}  // namespace fairlead::report::html
