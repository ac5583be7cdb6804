// Places in memory: who reads and who writes them, and whether that has an order.
#pragma once
#include <vector>

#include "front/unrolled/values.hpp"

namespace fairlead::unrolled {

class MemoryUses {
 public:
  MemoryUses(const Graph& graph, const Ports& ports, const Edges& edges, const Values& values,
             Findings& findings);

  /// Who changes what was in a place waits for those who read it, unless they come later anyhow and read what has been
  /// written back. `order` is that of flows and of overwritten values. Tells values with two writers.
  std::vector<Precedence> overwriting_steps(Order& order);

  /// Tells places that are written twice, or read and written, in no order. `order` has the steps above.
  void tell_races(Order& order);

 private:
  struct Reader {
    std::uint32_t place;
    bool changes;  ///< it begins with what is there, and makes a new value
    Port port;
    bool later;  ///< it comes after one who changes it: it reads what was written back
  };

  template <class F>
  void each_place(F&& f);
  bool may_look(std::size_t pairs);
  void writes(std::size_t begin, std::size_t end, Order& order);
  void reads(std::size_t begin, std::size_t end, const Use& written, Order& order);
  void find_origins();
  std::string told(Port port, const End& end) const;
  const End& input(Port port) const;
  std::uint32_t part(Port port) const;

  const Graph& graph_;
  const Ports& ports_;
  const Edges& edges_;
  const Values& values_;
  Findings& findings_;
  std::vector<Reader> readers_;         // by place; of a place those who change it first
  std::vector<std::uint32_t> origins_;  // by port: the place whose value it has, perhaps changed, or `none`
  std::size_t pairs_left_ = 20'000'000;
};

}  // namespace fairlead::unrolled
