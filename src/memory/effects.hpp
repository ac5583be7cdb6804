// The effects of a call to memory, which the caller processes. Each call appends to them.
#pragma once
#include <fairlead/ids.hpp>

#include <exception>
#include <vector>

#include "memory/replica.hpp"

namespace fairlead::memory {

struct Effects {
  std::vector<Task*> ready;    // admitted tasks whose copies have all arrived
  std::vector<Task*> failed;   // admitted tasks that miss an input; `failure` states why
  std::vector<Copy*> started;  // copies that the backend must execute
  // errno of a failed copy that ends the run; 0: none
  int stop_error = 0;
  DatumId stop_datum = no_id<DatumId>;
  std::exception_ptr stop_failure;  // the backend's exception; null: no details
};

}  // namespace fairlead::memory
