// Storage for the descriptors of registered data, which handles point to. A slot is reused after its datum is removed.
// Its generation number distinguishes old handles from new ones, so slots stay allocated as long as handles may be
// used.
#pragma once
#include <vector>

#include "base/stable_vector.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::front {

/// Used by the program's thread only.
class DatumStore {
 public:
  engine::RegisteredDatum& make() {
    if (free_.empty()) return all_.emplace_back();
    engine::RegisteredDatum& datum = *free_.back();
    free_.pop_back();
    const auto generation = datum.generation;
    datum = {};
    datum.generation = generation;
    return datum;
  }
  /// Returns a slot whose datum was removed by RuntimeCore::remove_datum().
  void give_back(engine::RegisteredDatum& datum) { free_.push_back(&datum); }

 private:
  StableVector<engine::RegisteredDatum> all_;
  std::vector<engine::RegisteredDatum*> free_;
};

}  // namespace fairlead::front
