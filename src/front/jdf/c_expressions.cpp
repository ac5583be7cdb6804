// See c_expressions.hpp.
#include "front/jdf/c_expressions.hpp"

#include <algorithm>
#include <array>

namespace fairlead::jdf {

namespace {

using Visible = std::vector<std::pair<std::string, std::uint32_t>>;

bool is_real(const Global& global) { return global.type == "double" || global.type == "float"; }

class LeafFinder {
 public:
  explicit LeafFinder(JdfFile& file) : file_(file) {}

  void all() {
    file_.c_leaves.clear();
    for (const Global& global : file_.globals) {
      real_ = is_real(global);
      look(global.value);
    }
    real_ = false;
    for (const TaskClass& it : file_.classes) task_class(it);
  }

 private:
  void task_class(const TaskClass& it) {
    visible_.clear();
    for (const Definition& definition : it.definitions) {
      const std::size_t before = visible_.size();
      look(definition.indices);
      look(definition.value);
      visible_.resize(before);
      visible_.emplace_back(definition.name.text, definition.slot);
    }
    for (const Property& property : it.properties)
      if ((property.name.text == "flops" || property.name.text == "time_estimate") &&
          property.value != no_expression && !is_name_of_c(file_.at(property.value)))
        look(property.value);
    look(it.simulation_cost);
    look(it.priority);
    look(it.placement.predicate);
    look(it.placement.datum.arguments);
    for (const Flow& flow : it.flows)
      for (const Dependency& dependency : flow.dependencies) {
        const std::size_t before = visible_.size();
        look(dependency.indices);
        for (const Branch& branch : dependency.branches) {
          look(branch.guard);
          const std::size_t inside = visible_.size();
          look(branch.target.indices);
          look(branch.target.arguments);
          visible_.resize(inside);
        }
        visible_.resize(before);
      }
  }

  void look(const std::vector<Index>& indices) {
    for (const Index& it : indices) {
      look(it.range);
      visible_.emplace_back(it.name.text, it.slot);
    }
  }
  void look(const std::vector<ExpressionId>& expressions) {
    for (const ExpressionId it : expressions) look(it);
  }

  void look(ExpressionId id) {
    if (id == no_expression) return;
    const Expression& it = file_.at(id);
    switch (it.kind) {
      case Expression::Kind::inline_c:
      case Expression::Kind::text: {
        if (it.parsed_content == no_expression) return leaf(id);
        const std::size_t before = visible_.size();
        look(it.variables);
        look(it.parsed_content);
        visible_.resize(before);
        return;
      }
      case Expression::Kind::call:
        return is_known_call(it) ? look(it.arguments) : leaf(id);
      case Expression::Kind::name:
        if (it.meaning == Binding::c) leaf(id);
        return;
      default:
        for (const ExpressionId part : it.parts) look(part);
    }
  }

  void leaf(ExpressionId id) {
    Expression& it = file_.expressions[id];
    CExpression out;
    out.id = id;
    out.real = real_;
    it.c_slots.clear();
    auto words = words_of_c(file_.source.text(it.where));
    for (auto local = visible_.rbegin(); local != visible_.rend(); ++local)
      if (words.erase(local->first) != 0) {  // innermost first: an inner name hides the outer one
        out.locals.push_back(*local);
        it.c_slots.push_back(local->second);
      }
    for (const std::string& word : words)
      if (const std::uint32_t global = file_.global_numbers.find(word); global != unbound_index)
        out.globals.push_back(global);
    file_.c_leaves.push_back(std::move(out));
  }

  JdfFile& file_;
  Visible visible_;
  bool real_ = false;
};

}  // namespace

bool is_known_call(const Expression& it) {
  constexpr std::array<std::string_view, 4> known{"dplasma_imin", "parsec_imin", "dplasma_imax",
                                                  "parsec_imax"};
  return it.arguments.size() == 2 && std::ranges::find(known, it.text) != known.end();
}

std::set<std::string, std::less<>> words_of_c(std::string_view text) {
  std::set<std::string, std::less<>> out;
  std::string word;
  const auto finish = [&] {
    if (!word.empty()) out.insert(std::move(word));
    word.clear();
  };
  for (const char letter : text) {
    const bool of_word = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                         letter == '_' || (letter >= '0' && letter <= '9');
    if (of_word)
      word += letter;
    else
      finish();
  }
  finish();
  return out;
}

void find_c_expressions(JdfFile& file) { LeafFinder(file).all(); }

}  // namespace fairlead::jdf
