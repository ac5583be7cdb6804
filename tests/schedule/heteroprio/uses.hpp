// A task's data and their nodes, in the notation of the paper's Table 1: nodes host data by letters.
#pragma once
#include <string>
#include <vector>

#include "schedule/heteroprio/affinity.hpp"

namespace fairlead::schedule::heteroprio {

struct Situation {
  struct Datum {
    std::string letter;
    Bytes bytes;
    bool written;
  };
  std::vector<Datum> data;
  std::vector<std::string> hosts;  // by node
};

inline std::vector<DatumUse> uses_of(const Situation& situation) {
  std::vector<DatumUse> uses;
  for (const auto& datum : situation.data) {
    DatumUse& use = uses.emplace_back();
    use.bytes = datum.bytes;
    use.written = datum.written;
    for (std::size_t m = 0; m < situation.hosts.size(); ++m)
      if (situation.hosts[m].find(datum.letter) != std::string::npos) use.present |= Columns{1} << m;
  }
  return uses;
}

}  // namespace fairlead::schedule::heteroprio
