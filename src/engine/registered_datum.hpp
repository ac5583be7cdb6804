// A datum as front ends hold it: the submitter's share.
#pragma once
#include <fairlead/ids.hpp>

#include <string>

#include "graph/graph.hpp"

namespace fairlead::engine {

struct DatumView;
struct Reduction;

struct RegisteredDatum {
  graph::DatumTail tail;
  DatumId id = no_id<DatumId>;
  Bytes bytes = 0;
  NodeId home{};
  bool in_place = false;           ///< cores use it where the user keeps it
  bool ever_written = false;       ///< reading it before makes no sense unless its home is user memory
  std::uint32_t generation = 0;    ///< how often another datum was described here before
  const void* runtime = nullptr;   ///< whose it is
  Reduction* reduction = nullptr;  ///< of its partial results, once it has been reduced
  std::string (*name)(const void* owner, const RegisteredDatum& datum) = nullptr;
  const void* owner = nullptr;
  DatumView* view = nullptr;  ///< if the same can be seen otherwise, too: as a whole, or as parts
  void* shared = nullptr;     ///< if all ranks know it: what front::shared_of() gives

  std::string text() const {
    return name != nullptr ? name(owner, *this) : "datum " + std::to_string(index(id));
  }
};

}  // namespace fairlead::engine
