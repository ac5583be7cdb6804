// See jdf_errors.hpp.
#include "fairlead/jdf/jdf_errors.hpp"

#include <fairlead/error.hpp>

#include <string_view>

#include "memory/admission.hpp"

namespace fairlead::app {

void throw_of_graph(const std::string& file) {
  try {
    throw;
  } catch (const UsageError& error) {
    const std::string what = error.what();
    if (what.find(file) != std::string::npos) throw;
    throw UsageError(file + ": " + what);
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(memory::Admitter::in_order) == std::string_view::npos) throw;
    throw UsageError(
        file +
        ": a task changes data that another task uses at the same time: no edge orders the two. `fairlead "
        "jdf check` names such tasks; for a large graph, give it smaller sizes");
  }
}

}  // namespace fairlead::app
