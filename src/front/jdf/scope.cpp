// See scope.hpp.
#include "front/jdf/scope.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace fairlead::jdf {

namespace {

std::uint32_t member_of(JdfFile& file, const Expression& it, std::uint32_t global) {
  if (const std::uint32_t known = file.member_numbers.find(it.text); known != unbound_index) return known;
  const std::size_t last = it.text.find_last_of(".>");
  file.members.push_back({it.text, global, it.text.substr(last + 1)});
  const auto number = static_cast<std::uint32_t>(file.members.size() - 1);
  file.member_numbers.add(it.text, number);
  return number;
}

}  // namespace

std::uint32_t global_named(const JdfFile& file, std::string_view name, std::size_t visible) {
  const std::uint32_t number = file.global_numbers.find(name);
  return number < visible ? number : unbound_index;
}

std::uint32_t Scope::add(std::string_view name) {
  names_.emplace_back(name, slots_);
  return slots_++;
}

std::uint32_t Scope::find(std::string_view name) const {
  for (auto it = names_.rbegin(); it != names_.rend(); ++it)
    if (it->first == name) return it->second;
  return unbound_index;
}

void Scope::bind(std::vector<Index>& indices) {
  for (Index& index : indices) {
    bind(index.range);
    index.slot = add(index.name.text);
  }
}

void Scope::bind(ExpressionId id) {
  if (id == no_expression) return;
  Expression& it = file_.expressions[id];
  switch (it.kind) {
    case Expression::Kind::name:
      return bind_name(it);
    case Expression::Kind::text:
      return bind_evaluated(id);
    case Expression::Kind::inline_c:
      return bind_evaluated(id);
    case Expression::Kind::call:
      it.meaning = Binding::c;
      for (const ExpressionId argument : it.arguments) bind(argument);
      return;
    default:
      for (const ExpressionId part : it.parts) bind(part);
  }
}

void Scope::bind_c(ExpressionId id) {
  in_c_ = true;
  bind(id);
  in_c_ = false;
}

void Scope::bind_evaluated(ExpressionId id) {
  const bool was_in_c = in_c_;
  const std::size_t before = depth();
  in_c_ = true;
  bind(file_.expressions[id].variables);
  bind(file_.expressions[id].parsed_content);
  pop_to(before);
  in_c_ = was_in_c;
}

bool Scope::bind_global(Expression& it) {
  const std::uint32_t global = global_named(file_, it.base, visible_globals_);
  if (global == unbound_index) return false;
  const bool whole = it.base.size() == it.text.size();
  it.meaning = whole ? Binding::global : Binding::member;
  it.index = whole ? global : member_of(file_, it, global);
  return true;
}

void Scope::bind_name(Expression& it) {
  const std::uint32_t slot = find(it.base);
  if (slot != unbound_index && it.base.size() == it.text.size()) {
    it.meaning = Binding::local;
    it.index = slot;
    return;
  }
  if (slot == unbound_index && bind_global(it)) return;
  if (in_c_ || is_of_prologue(it)) {
    it.meaning = Binding::c;
    it.index = file_.c_numbers.find(it.text);
    if (it.index == unbound_index) {
      it.index = static_cast<std::uint32_t>(file_.c_names.size());
      file_.c_names.push_back(it.text);
      file_.c_numbers.add(it.text, it.index);
    }
    return;
  }
  if (slot != unbound_index)
    return diagnostics_.error(it.where, fmt::format("{} is a number and has no members", it.base));
  unknown(it);
}

/// Values of globals are C, as in [ default = PlasmaUpper ]: a name that is no global may be defined by the prologue.
bool Scope::is_of_prologue(const Expression& it) {
  if (class_ != nullptr || global_named(file_, it.base, file_.globals.size()) != unbound_index) return false;
  std::vector<std::string_view> known;
  if (diagnostics_.may_suggest())
    for (std::size_t i = 0; i < std::min(visible_globals_, file_.globals.size()); ++i)
      known.push_back(file_.globals[i].name.text);
  if (const std::string near = suggestion(diagnostics_, it.base, known); !near.empty())
    diagnostics_.warning(
        it.where, fmt::format("\"{}\" is no global above this line: C has to know it{}", it.base, near));
  return true;
}

void Scope::unknown(const Expression& it) {
  std::vector<std::string_view> known;
  if (diagnostics_.may_suggest()) {
    for (const auto& [name, slot] : names_) known.push_back(name);
    for (std::size_t i = 0; i < std::min(visible_globals_, file_.globals.size()); ++i)
      known.push_back(file_.globals[i].name.text);
  }
  std::string message = fmt::format("there is no \"{}\"", it.base);
  std::vector<Note> remarks;
  if (class_ == nullptr) {
    message += " above this line";
    if (const std::uint32_t below = global_named(file_, it.base, file_.globals.size());
        below != unbound_index)
      remarks.push_back(
          {file_.globals[below].name.where, "a global may use only those before it; this one is here"});
  } else {
    const auto later =
        std::ranges::find(class_->definitions, it.base, [](const Definition& d) { return d.name.text; });
    const auto flow = std::ranges::find(class_->flows, it.base, [](const Flow& f) { return f.name.text; });
    if (later != class_->definitions.end() && later->name.where.begin > it.where.begin)
      remarks.push_back({later->name.where, fmt::format("{} is defined later, here", it.base)});
    else if (flow != class_->flows.end())
      remarks.push_back(
          {flow->name.where, fmt::format("{} is a flow: only bodies can read its data", it.base)});
  }
  if (remarks.empty()) {
    const std::string near = suggestion(diagnostics_, it.base, known);
    message += near.empty() ? "; what C defines is written %{ return ...; %}" : near;
  }
  diagnostics_.error(it.where, std::move(message), std::move(remarks));
}

}  // namespace fairlead::jdf
