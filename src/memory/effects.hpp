// What followed from a call to memory: what the caller has to go on with. Calls add to it.
#pragma once
#include <fairlead/ids.hpp>

#include <exception>
#include <vector>

#include "memory/replica.hpp"

namespace fairlead::memory {

struct Effects {
  std::vector<Task*> landed;   // admitted tasks that wait for no copy any more
  std::vector<Task*> failed;   // admitted tasks one of whose inputs could not be brought; `failure` tells why
  std::vector<Copy*> started;  // copies that the world has to carry out
  int stop_error = 0;          // errno of a copy whose failure ends the run: what was to be safe is not
  DatumId stop_datum = no_id<DatumId>;
  std::exception_ptr stop_failure;  // what the world says about it; null: nothing more
};

}  // namespace fairlead::memory
