// Where registered data are described as front ends hold them. A place is used again after its datum is gone;
// the generation in it tells old handles from new ones, so that it has to stay as long as handles may be
// used.
#pragma once
#include <vector>

#include "base/chunked_vector.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::front {

/// The application's thread's.
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
  /// It was removed from the runtime; see RuntimeCore::remove_datum.
  void give_back(engine::RegisteredDatum& datum) { free_.push_back(&datum); }

 private:
  ChunkedVector<engine::RegisteredDatum> all_;
  std::vector<engine::RegisteredDatum*> free_;
};

}  // namespace fairlead::front
