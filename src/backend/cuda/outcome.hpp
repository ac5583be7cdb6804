// Converts the driver's errors to the outcome of a copy.
#pragma once
#include <fairlead/error.hpp>

#include <cerrno>

#include "backend/transfer_engine.hpp"

namespace fairlead::backend::cu {

/// Driver errors become errors of the copy; exceptions of the program's own functions pass through.
template <class Step>
TransferResult outcome_of_driver(const Step& step) {
  try {
    step();
  } catch (const SystemError& error) {
    return {.error_number = EIO, .description = error.what(), .failure = nullptr};
  }
  return {};
}

}  // namespace fairlead::backend::cu
