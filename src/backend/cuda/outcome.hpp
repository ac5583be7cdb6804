// How a copy has ended, from what the driver said of it.
#pragma once
#include <fairlead/error.hpp>

#include <cerrno>

#include "backend/carrier.hpp"

namespace fairlead::backend::cu {

/// What the driver says fails the copy as a carrier's error; what the program's own functions throw is for the program.
template <class Step>
Outcome outcome_of_driver(const Step& step) {
  try {
    step();
  } catch (const SystemError& error) {
    return {.error_number = EIO, .words = error.what(), .failure = nullptr};
  }
  return {};
}

}  // namespace fairlead::backend::cu
