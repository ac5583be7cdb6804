// See body.hpp.
#include "front/jdf/body.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "base/ignoring_case.hpp"
#include "base/suggest.hpp"
#include "front/jdf/scope.hpp"
#include "front/jdf/token_stream.hpp"

namespace fairlead::jdf {

namespace {

using fairlead::detail::TileFunction;

constexpr int deepest_statements = 100;
constexpr std::string_view what_to_do =
    "this body is C that is not interpreted: --allow-c has the C compiler build it; or compile the file, or "
    "write it with the functions that docs/jdf.md lists";

/// Adds the class's own slots, under the names of their definitions.
void add_names(const TaskClass& of, Scope& scope, std::uint32_t& slots) {
  std::vector<std::pair<std::uint32_t, std::string_view>> named;
  for (const Definition& it : of.definitions) named.emplace_back(it.slot, it.name.text);
  std::ranges::sort(named);
  for (const auto& [slot, name] : named) {
    slots = slot;
    scope.add(name);
  }
  slots = of.slots;
}

class BodyReader {
 public:
  BodyReader(JdfFile& file, const TaskClass& of, const Body& body, TileTable table, TokenStream& words,
             Diagnostics& diagnostics)
      : file_(file),
        of_(of),
        whole_(body),
        table_(table),
        words_(words),
        diagnostics_(diagnostics),
        scope_(file, diagnostics, &of, file.globals.size(), out_.slots) {
    words_.allow_pointers();
    add_names(of, scope_, out_.slots);
    for (std::uint32_t i = 0; i < file.globals.size(); ++i)
      if (points_to_int(file.globals[i])) {
        pointer_names_.push_back("*" + file.globals[i].name.text);
        out_.pointers.push_back({unbound_index, i});
      }
    for (std::size_t i = 0; i < pointer_names_.size(); ++i)
      out_.pointers[i].slot = scope_.add(pointer_names_[i]);
  }

  InterpretedBody read() {
    while (!words_.is(TokenKind::end)) statement(out_.top_level, 0);
    name();
    return std::move(out_);
  }

 private:
  static bool points_to_int(const Global& global) {
    std::string type;
    for (const char letter : global.type)
      if (letter != ' ') type += letter;
    return type == "int*";
  }

  [[noreturn]] void is_c(SourceRange where, std::string_view why) {
    diagnostics_.error(where, std::string(why), {{whole_.where, std::string(what_to_do)}});
    throw ParseAborted{};
  }

  StatementId add(Statement it) {
    out_.statements.push_back(std::move(it));
    return static_cast<StatementId>(out_.statements.size() - 1);
  }

  void statement(std::vector<StatementId>& into, int depth) {
    if (depth > deepest_statements) is_c(words_.peek().where, "nested too deeply");
    if (words_.match(TokenKind::semicolon)) return;
    if (words_.match(TokenKind::brace_open)) {
      const std::size_t before = scope_.depth();
      while (!words_.is(TokenKind::brace_close) && !words_.is(TokenKind::end)) statement(into, depth + 1);
      words_.expect(TokenKind::brace_close, "after a block");
      scope_.pop_to(before);
      return;
    }
    if (words_.is_name("if")) return choice(into, depth);
    if (words_.is_name("return")) {
      words_.advance();
      if (!words_.is(TokenKind::semicolon)) require_done(parse_expression(words_, ExpressionContext::value));
      words_.expect(TokenKind::semicolon, "after return");
      into.push_back(add({.kind = Statement::Kind::leave}));
      return;
    }
    if (declaration_begins()) return declarations(into);
    if (words_.is(TokenKind::times) && words_.is(TokenKind::name, 1) && words_.is(TokenKind::assign, 2))
      return point(into);
    if (words_.is(TokenKind::name) && words_.is(TokenKind::assign, 1)) return assignment(into);
    if (words_.is(TokenKind::open) && words_.is_name("void", 1) && words_.is(TokenKind::close, 2)) {
      // (void)name; marks a name as unused.
      for (int i = 0; i < 3; ++i) words_.advance();
      words_.expect(TokenKind::name, "after (void)");
      words_.expect(TokenKind::semicolon, "after (void)");
      return;
    }
    const Token word = words_.peek();
    if (!words_.is(TokenKind::name) || !words_.is(TokenKind::open, 1))
      is_c(word.where, fmt::format("\"{}\" starts a construct that requires a C compiler", words_.text()));
    into.push_back(add({.kind = Statement::Kind::call, .call = call()}));
    words_.expect(TokenKind::semicolon, "after a call");
  }

  void choice(std::vector<StatementId>& into, int depth) {
    words_.advance();
    words_.expect(TokenKind::open, "after if");
    Statement it{.kind = Statement::Kind::branch, .value = value()};
    words_.expect(TokenKind::close, "after the condition");
    statement(it.first, depth + 1);
    if (words_.is_name("else")) {
      words_.advance();
      statement(it.second, depth + 1);
    }
    into.push_back(add(std::move(it)));
  }

  /// Checks that a body returns nothing, 0 or PARSEC_HOOK_RETURN_DONE: its work is done when it returns.
  void require_done(ExpressionId returned) {
    const Expression& it = file_.at(returned);
    const bool none = it.kind == Expression::Kind::integer && it.integer == 0;
    if (!none && !(it.kind == Expression::Kind::name && it.text.ends_with("HOOK_RETURN_DONE")))
      is_c(it.where, "a body that is interpreted returns nothing, 0 or PARSEC_HOOK_RETURN_DONE");
  }

  bool declaration_begins() const {
    const std::size_t ahead = words_.is_name("const") ? 1 : 0;
    return (words_.is_name("int", ahead) || words_.is_name("double", ahead) ||
            words_.is_name("float", ahead)) &&
           words_.is(TokenKind::name, ahead + 1);
  }

  void declarations(std::vector<StatementId>& into) {
    if (words_.is_name("const")) words_.advance();
    const bool real = !words_.is_name("int");
    words_.advance();
    do {
      const Name name = words_.need_name("a name");
      words_.expect(TokenKind::assign, "after a variable: it needs a value");
      Statement it = value_or_call(real);
      names_.push_back(std::make_unique<std::string>(name.text));
      it.slot = scope_.add(*names_.back());
      reals_.resize(out_.slots);
      reals_[it.slot] = real;
      into.push_back(add(std::move(it)));
    } while (words_.match(TokenKind::comma));
    words_.expect(TokenKind::semicolon, "after a declaration");
  }

  Statement value_or_call(bool real) {
    Statement it{.kind = Statement::Kind::assign, .real = real};
    if (words_.is(TokenKind::name) && words_.is(TokenKind::open, 1) &&
        function_named(words_.text()).first != nullptr) {
      const SourceRange where = words_.peek().where;
      it.call = call();
      if (out_.calls[it.call].function->failure.empty())
        is_c(where, fmt::format("{} returns nothing", file_.source.text(where)));
    } else {
      it.value = value();
    }
    return it;
  }

  void assignment(std::vector<StatementId>& into) {
    const Token name = words_.advance();
    const std::uint32_t slot = scope_.find(file_.source.text(name.where));
    if (slot == unbound_index || slot < of_.slots)
      is_c(name.where, fmt::format("{} is not a variable of this body", file_.source.text(name.where)));
    words_.advance();
    Statement it = value_or_call(slot < reals_.size() && reals_[slot]);
    it.slot = slot;
    words_.expect(TokenKind::semicolon, "after an assignment");
    into.push_back(add(std::move(it)));
  }

  void point(std::vector<StatementId>& into) {
    const SourceRange where = words_.advance().where;
    const std::string name = "*" + std::string(words_.text());
    words_.advance();
    words_.advance();
    const auto found = std::ranges::find(pointer_names_, name);
    if (found == pointer_names_.end())
      is_c(where, fmt::format("{} is not a global of type \"int *\"", name.substr(1)));
    Statement it{.kind = Statement::Kind::assign_pointer, .value = value()};
    it.pointer = static_cast<std::uint32_t>(found - pointer_names_.begin());
    words_.expect(TokenKind::semicolon, "after an assignment");
    into.push_back(add(std::move(it)));
  }

  ExpressionId value() {
    const ExpressionId id = parse_expression(words_, ExpressionContext::value);
    require_numbers(id);
    scope_.bind_c(id);
    return id;
  }
  /// Checks that a value contains no calls except those that the evaluator computes, no strings, and no flows.
  void require_numbers(ExpressionId id) {
    const Expression& it = file_.at(id);
    if (it.kind == Expression::Kind::call && it.text != "dplasma_imin" && it.text != "dplasma_imax" &&
        it.text != "parsec_imin" && it.text != "parsec_imax")
      is_c(it.where, function_named(it.text).first == nullptr
                         ? fmt::format("{}(...) is not an interpreted function{}", it.text, near(it.text))
                         : fmt::format("{}(...) must be a statement or follow \"int NAME =\"", it.text));
    if (it.kind == Expression::Kind::text) is_c(it.where, "a string is not a number");
    if (it.kind == Expression::Kind::name && flow_named(it.text) != unbound_index &&
        scope_.find(it.text) == unbound_index)
      is_c(it.where, fmt::format("{} is a flow, not a number", it.text));
    const auto parts = it.parts;
    const auto arguments = it.arguments;
    for (const ExpressionId part : parts)
      if (part != no_expression) require_numbers(part);
    for (const ExpressionId part : arguments) require_numbers(part);
  }

  std::uint32_t flow_named(std::string_view name) const {
    for (std::uint32_t i = 0; i < of_.flows.size(); ++i)
      if (of_.flows[i].name.text == name && of_.flows[i].access != FlowAccess::control) return i;
    return unbound_index;
  }

  /// The tile function named tile_gemm, tile_dgemm or tile_sgemm, and its precision.
  std::pair<const TileFunction*, TilePrecision> function_named(std::string_view name) const {
    constexpr std::string_view prefix = "tile_";
    if (!name.starts_with(prefix)) return {};
    const std::string_view rest = name.substr(prefix.size());
    for (const TileFunction& it : table_) {
      if (rest == it.name) return {&it, TilePrecision::any};
      if (rest.size() == it.name.size() + 1 && rest.substr(1) == it.name) {
        if (rest[0] == 'd') return {&it, TilePrecision::double_};
        if (rest[0] == 's') return {&it, TilePrecision::single};
      }
    }
    return {};
  }

  std::string near(std::string_view name) const {
    std::vector<std::string> names;
    for (const TileFunction& it : table_)
      for (const char* prefix : {"tile_", "tile_d", "tile_s"}) names.push_back(prefix + std::string(it.name));
    const std::vector<std::string_view> views(names.begin(), names.end());
    return did_you_mean(name, views);
  }

  std::uint32_t call() {
    const Token word = words_.advance();
    const std::string_view name = file_.source.text(word.where);
    BodyCall it;
    std::tie(it.function, it.precision) = function_named(name);
    it.where = word.where;
    if (it.function == nullptr)
      is_c(word.where, fmt::format("{}(...) is not an interpreted function{}", name, near(name)));
    words_.expect(TokenKind::open, "after the function's name");
    const std::string_view wanted = it.function->arguments;
    const auto signature = [&] { return fmt::format("{}({})", name, it.function->written); };
    for (std::size_t i = 0; !words_.is(TokenKind::close); ++i) {
      if (i != 0) words_.expect(TokenKind::comma, "between arguments");
      if (i == wanted.size())
        is_c(words_.peek().where, fmt::format("one argument too many: {}", signature()));
      it.arguments.push_back(wanted[i] == 'r' || wanted[i] == 'w' ? tile(wanted[i] == 'w', signature())
                                                                  : number());
    }
    const SourceRange end = words_.expect(TokenKind::close, "after the arguments").where;
    if (it.arguments.size() != wanted.size())
      is_c(end, fmt::format("{} of {} arguments: {}", it.arguments.size(), wanted.size(), signature()));
    it.where.end = end.end;
    out_.calls.push_back(std::move(it));
    return static_cast<std::uint32_t>(out_.calls.size() - 1);
  }

  BodyCall::Argument number() { return {.value = value()}; }
  BodyCall::Argument tile(bool changed, const std::string& signature) {
    const Token word = words_.advance();
    const std::string_view name = file_.source.text(word.where);
    const std::uint32_t flow = word.token == TokenKind::name ? flow_named(name) : unbound_index;
    if (flow == unbound_index || !(words_.is(TokenKind::comma) || words_.is(TokenKind::close)))
      is_c(word.where, fmt::format("a flow of {} stands here: {}", of_.name.text, signature));
    if (changed && of_.flows[flow].access == FlowAccess::read)
      is_c(word.where, fmt::format("{} is changed here, and READ there", name));
    return {.flow = flow};
  }

  void name() {
    out_.name = of_.name.text;
    if (out_.calls.empty()) return;
    const std::string_view kernel = out_.calls[0].function->kernel;
    if (std::ranges::all_of(out_.calls, [&](const BodyCall& it) { return it.function->kernel == kernel; }))
      out_.name = std::string(kernel);
  }

  JdfFile& file_;
  const TaskClass& of_;
  const Body& whole_;
  TileTable table_;
  TokenStream& words_;
  Diagnostics& diagnostics_;
  InterpretedBody out_;
  Scope scope_;
  std::vector<std::string> pointer_names_;
  std::vector<std::unique_ptr<std::string>> names_;  // owns the strings that the scope refers to
  std::vector<bool> reals_;                          // by slot
};

std::optional<InterpretedBody> read_body(JdfFile& file, const TaskClass& of, const Body& body,
                                         TileTable table, Diagnostics& diagnostics) {
  Diagnostics of_words;
  TokenStream words(file, tokenize(file.source, body.code, LexMode::expression, of_words), diagnostics);
  if (of_words.errors() != 0) {
    const Diagnostic first = of_words.sorted().front();
    diagnostics.error(first.where, first.message, {{body.where, std::string(what_to_do)}});
    return std::nullopt;
  }
  try {
    return BodyReader(file, of, body, table, words, diagnostics).read();
  } catch (const ParseAborted&) {
    return std::nullopt;  // already reported
  }
}

/// Reads the properties of a class that state the cost of its tasks.
void read_costs(JdfFile& file, const TaskClass& of, InterpretedBody& into) {
  Diagnostics discarded_diagnostics;
  std::uint32_t slots = of.slots;
  Scope scope(file, discarded_diagnostics, &of, file.globals.size(), slots);
  add_names(of, scope, slots);
  const auto value_of = [&](std::string_view name) {
    const Property* const property = find(of.properties, name);
    if (property == nullptr || property->value == no_expression) return no_expression;
    scope.bind_c(property->value);
    return is_name_of_c(file.at(property->value)) ? no_expression : property->value;
  };
  into.flops = value_of("flops");
  into.nanoseconds = value_of("time_estimate");
  into.slots = std::max(into.slots, slots);  // inline C may have variables of its own
}

}  // namespace

bool runs_on_cores(const Body& body, const JdfFile& file) {
  const Property* type = find(body.properties, "type");
  if (type == nullptr) return true;
  const std::string word = word_of(*type, file);
  return word.empty() || equal_ignoring_case(word, "CPU");
}

std::vector<InterpretedBody> parse_bodies(JdfFile& file, TileTable table, Diagnostics& diagnostics) {
  std::vector<InterpretedBody> out;
  for (std::size_t i = 0; i < file.classes.size(); ++i) {
    const TaskClass& of = file.classes[i];
    InterpretedBody& into = out.emplace_back();
    into.slots = of.slots;
    into.name = of.name.text;
    into.is_c = !of.bodies.empty();
    const auto body =
        std::ranges::find_if(of.bodies, [&](const Body& it) { return runs_on_cores(it, file); });
    if (body == of.bodies.end()) {
      if (!of.bodies.empty())
        diagnostics.error(of.bodies[0].where, fmt::format("{} has no body for cores", of.name.text));
    } else if (std::optional<InterpretedBody> read = read_body(file, of, *body, table, diagnostics)) {
      into = std::move(*read);
    }
    read_costs(file, of, into);
  }
  return out;
}

}  // namespace fairlead::jdf
