// A datum as front ends use it: the submitter's part of its state.
#pragma once
#include <fairlead/ids.hpp>

#include <string>

#include "graph/dependency_graph.hpp"

namespace fairlead::engine {

struct RegisteredView;
struct Reduction;

struct RegisteredDatum {
  graph::DatumState tail;
  DatumId id = no_id<DatumId>;
  Bytes bytes = 0;
  NodeId home{};
  bool in_place = false;           ///< cores use it in the user's memory
  bool ever_written = false;       ///< reading it before is an error unless its home is user memory
  std::uint32_t generation = 0;    ///< how many other data this object has described before
  const void* runtime = nullptr;   ///< the runtime that it belongs to
  Reduction* reduction = nullptr;  ///< set once it has been reduced
  std::string (*name)(const void* owner, const RegisteredDatum& datum) = nullptr;
  const void* owner = nullptr;
  RegisteredView* view = nullptr;  ///< set if it can also be accessed by other views: as a whole, or as parts
  void* shared = nullptr;          ///< set if all ranks share it: for front::shared_of()

  std::string text() const {
    return name != nullptr ? name(owner, *this) : "datum " + std::to_string(index(id));
  }
};

}  // namespace fairlead::engine
