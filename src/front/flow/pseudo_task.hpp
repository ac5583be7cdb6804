// Tasks that no worker runs: they give operations of the program or the engine a turn in program order.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <string>
#include <utility>

namespace fairlead::front {

/// The codelet of such a task; `name` appears in messages.
inline CodeletInfo pseudo_codelet(std::string name) {
  CodeletInfo codelet;
  codelet.name = std::move(name);
  codelet.kinds = 0;  // no kind of worker can run it
  return codelet;
}

}  // namespace fairlead::front
