// Codelets and footprints in few words.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <initializer_list>
#include <string>
#include <vector>

#include "model/duration_model.hpp"

namespace fairlead::tests {

inline CodeletInfo named(std::string name, WorkUnit unit = WorkUnit::none) {
  CodeletInfo codelet;
  codelet.name = std::move(name);
  codelet.unit = unit;
  return codelet;
}

inline model::Footprint data_of(std::initializer_list<Bytes> bytes, float work = 0) {
  model::Footprint footprint;
  for (const Bytes one : bytes) footprint.add(one);
  footprint.add_work(work);
  return footprint;
}

inline const model::Processor cpu(WorkerKind::cpu);
inline constexpr std::int64_t us = 1'000, ms = 1'000'000;

}  // namespace fairlead::tests
