// Tasks that no worker runs: a turn in program order for what the application or the engine itself does.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <string>
#include <utility>

namespace fairlead::front {

/// The codelet of such tasks, under the name that messages call them by.
inline CodeletInfo pseudo_codelet(std::string name) {
  CodeletInfo codelet;
  codelet.name = std::move(name);
  codelet.kinds = 0;  // of workers that could run it
  return codelet;
}

}  // namespace fairlead::front
