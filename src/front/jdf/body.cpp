// See body.hpp.
#include "front/jdf/body.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "base/suggest.hpp"
#include "front/jdf/parser_words.hpp"
#include "front/jdf/scope.hpp"

namespace fairlead::jdf {

namespace {

using fairlead::detail::TileFunction;

constexpr int deepest_statements = 100;
constexpr std::string_view what_to_do =
    "this body is C that is not interpreted: --allow-c has the C compiler build it; or compile the file, or "
    "write it with the functions that docs/jdf.md lists";

/// The class's own slots, under the names that its definitions have.
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
  BodyReader(File& file, const TaskClass& of, const Body& body, TileTable table, WordReader& words,
             Diagnostics& diagnostics)
      : file_(file),
        of_(of),
        whole_(body),
        table_(table),
        words_(words),
        diagnostics_(diagnostics),
        scope_(file, diagnostics, &of, file.globals.size(), out_.slots) {
    words_.know_pointers();
    add_names(of, scope_, out_.slots);
    for (std::uint32_t i = 0; i < file.globals.size(); ++i)
      if (points_to_int(file.globals[i])) {
        pointer_names_.push_back("*" + file.globals[i].name.text);
        out_.pointers.push_back({nowhere, i});
      }
    for (std::size_t i = 0; i < pointer_names_.size(); ++i)
      out_.pointers[i].slot = scope_.add(pointer_names_[i]);
  }

  ReadBody read() {
    while (!words_.is(Token::end)) statement(out_.all, 0);
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

  [[noreturn]] void is_c(Range where, std::string_view why) {
    diagnostics_.error(where, std::string(why), {{whole_.where, std::string(what_to_do)}});
    throw CannotGoOn{};
  }

  StatementId add(Statement it) {
    out_.statements.push_back(std::move(it));
    return static_cast<StatementId>(out_.statements.size() - 1);
  }

  void statement(std::vector<StatementId>& into, int depth) {
    if (depth > deepest_statements) is_c(words_.peek().where, "nested too deeply");
    if (words_.take(Token::semicolon)) return;
    if (words_.take(Token::brace_open)) {
      const std::size_t before = scope_.mark();
      while (!words_.is(Token::brace_close) && !words_.is(Token::end)) statement(into, depth + 1);
      words_.need(Token::brace_close, "after a block");
      scope_.back_to(before);
      return;
    }
    if (words_.is_name("if")) return choice(into, depth);
    if (words_.is_name("return")) {
      words_.next();
      if (!words_.is(Token::semicolon)) require_done(parse_expression(words_, Use::value));
      words_.need(Token::semicolon, "after return");
      into.push_back(add({.kind = Statement::Kind::leave}));
      return;
    }
    if (declaration_begins()) return declarations(into);
    if (words_.is(Token::times) && words_.is(Token::name, 1) && words_.is(Token::assign, 2))
      return point(into);
    if (words_.is(Token::name) && words_.is(Token::assign, 1)) return assignment(into);
    if (words_.is(Token::open) && words_.is_name("void", 1) && words_.is(Token::close, 2)) {
      // (void)name; says that a name is not used.
      for (int i = 0; i < 3; ++i) words_.next();
      words_.need(Token::name, "after (void)");
      words_.need(Token::semicolon, "after (void)");
      return;
    }
    const Word word = words_.peek();
    if (!words_.is(Token::name) || !words_.is(Token::open, 1))
      is_c(word.where, fmt::format("\"{}\" begins something that only C understands", words_.text()));
    into.push_back(add({.kind = Statement::Kind::call, .call = call()}));
    words_.need(Token::semicolon, "after a call");
  }

  void choice(std::vector<StatementId>& into, int depth) {
    words_.next();
    words_.need(Token::open, "after if");
    Statement it{.kind = Statement::Kind::choice, .value = value()};
    words_.need(Token::close, "after the condition");
    statement(it.first, depth + 1);
    if (words_.is_name("else")) {
      words_.next();
      statement(it.second, depth + 1);
    }
    into.push_back(add(std::move(it)));
  }

  /// A body that is interpreted has done its work when it returns.
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
           words_.is(Token::name, ahead + 1);
  }

  void declarations(std::vector<StatementId>& into) {
    if (words_.is_name("const")) words_.next();
    const bool real = !words_.is_name("int");
    words_.next();
    do {
      const Name name = words_.need_name("a name");
      words_.need(Token::assign, "after a variable: it needs a value");
      Statement it = value_or_call(real);
      names_.push_back(std::make_unique<std::string>(name.text));
      it.slot = scope_.add(*names_.back());
      reals_.resize(out_.slots);
      reals_[it.slot] = real;
      into.push_back(add(std::move(it)));
    } while (words_.take(Token::comma));
    words_.need(Token::semicolon, "after a declaration");
  }

  Statement value_or_call(bool real) {
    Statement it{.kind = Statement::Kind::set, .real = real};
    if (words_.is(Token::name) && words_.is(Token::open, 1) &&
        function_named(words_.text()).first != nullptr) {
      const Range where = words_.peek().where;
      it.call = call();
      if (out_.calls[it.call].function->failure.empty())
        is_c(where, fmt::format("{} returns nothing", file_.source.text(where)));
    } else {
      it.value = value();
    }
    return it;
  }

  void assignment(std::vector<StatementId>& into) {
    const Word name = words_.next();
    const std::uint32_t slot = scope_.find(file_.source.text(name.where));
    if (slot == nowhere || slot < of_.slots)
      is_c(name.where, fmt::format("{} is no variable of this body", file_.source.text(name.where)));
    words_.next();
    Statement it = value_or_call(slot < reals_.size() && reals_[slot]);
    it.slot = slot;
    words_.need(Token::semicolon, "after an assignment");
    into.push_back(add(std::move(it)));
  }

  void point(std::vector<StatementId>& into) {
    const Range where = words_.next().where;
    const std::string name = "*" + std::string(words_.text());
    words_.next();
    words_.next();
    const auto found = std::ranges::find(pointer_names_, name);
    if (found == pointer_names_.end())
      is_c(where, fmt::format("{} is no global of type \"int *\"", name.substr(1)));
    Statement it{.kind = Statement::Kind::point, .value = value()};
    it.pointer = static_cast<std::uint32_t>(found - pointer_names_.begin());
    words_.need(Token::semicolon, "after an assignment");
    into.push_back(add(std::move(it)));
  }

  ExpressionId value() {
    const ExpressionId id = parse_expression(words_, Use::value);
    require_numbers(id);
    scope_.bind_c(id);
    return id;
  }
  /// No calls but of what the evaluator knows; no flows.
  void require_numbers(ExpressionId id) {
    const Expression& it = file_.at(id);
    if (it.kind == Expression::Kind::call && it.text != "dplasma_imin" && it.text != "dplasma_imax" &&
        it.text != "parsec_imin" && it.text != "parsec_imax")
      is_c(it.where, function_named(it.text).first == nullptr
                         ? fmt::format("only C knows {}(...){}", it.text, near(it.text))
                         : fmt::format("{}(...) stands alone, or behind \"int NAME =\"", it.text));
    if (it.kind == Expression::Kind::text) is_c(it.where, "a string is no number");
    if (it.kind == Expression::Kind::name && flow_named(it.text) != nowhere &&
        scope_.find(it.text) == nowhere)
      is_c(it.where, fmt::format("{} is a flow, and no number", it.text));
    const auto parts = it.parts;
    const auto arguments = it.arguments;
    for (const ExpressionId part : parts)
      if (part != no_expression) require_numbers(part);
    for (const ExpressionId part : arguments) require_numbers(part);
  }

  std::uint32_t flow_named(std::string_view name) const {
    for (std::uint32_t i = 0; i < of_.flows.size(); ++i)
      if (of_.flows[i].name.text == name && of_.flows[i].access != Access::control) return i;
    return nowhere;
  }

  /// tile_gemm, tile_dgemm, tile_sgemm.
  std::pair<const TileFunction*, Precision> function_named(std::string_view name) const {
    constexpr std::string_view prefix = "tile_";
    if (!name.starts_with(prefix)) return {};
    const std::string_view rest = name.substr(prefix.size());
    for (const TileFunction& it : table_) {
      if (rest == it.name) return {&it, Precision::any};
      if (rest.size() == it.name.size() + 1 && rest.substr(1) == it.name) {
        if (rest[0] == 'd') return {&it, Precision::double_};
        if (rest[0] == 's') return {&it, Precision::single};
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
    const Word word = words_.next();
    const std::string_view name = file_.source.text(word.where);
    BodyCall it;
    std::tie(it.function, it.precision) = function_named(name);
    it.where = word.where;
    if (it.function == nullptr) is_c(word.where, fmt::format("only C knows {}(...){}", name, near(name)));
    words_.need(Token::open, "after the function's name");
    const std::string_view wanted = it.function->arguments;
    const auto signature = [&] { return fmt::format("{}({})", name, it.function->written); };
    for (std::size_t i = 0; !words_.is(Token::close); ++i) {
      if (i != 0) words_.need(Token::comma, "between arguments");
      if (i == wanted.size())
        is_c(words_.peek().where, fmt::format("one argument too many: {}", signature()));
      it.arguments.push_back(wanted[i] == 'r' || wanted[i] == 'w' ? tile(wanted[i] == 'w', signature())
                                                                  : number());
    }
    const Range end = words_.need(Token::close, "after the arguments").where;
    if (it.arguments.size() != wanted.size())
      is_c(end, fmt::format("{} of {} arguments: {}", it.arguments.size(), wanted.size(), signature()));
    it.where.end = end.end;
    out_.calls.push_back(std::move(it));
    return static_cast<std::uint32_t>(out_.calls.size() - 1);
  }

  BodyCall::Argument number() { return {.value = value()}; }
  BodyCall::Argument tile(bool changed, const std::string& signature) {
    const Word word = words_.next();
    const std::string_view name = file_.source.text(word.where);
    const std::uint32_t flow = word.token == Token::name ? flow_named(name) : nowhere;
    if (flow == nowhere || !(words_.is(Token::comma) || words_.is(Token::close)))
      is_c(word.where, fmt::format("a flow of {} stands here: {}", of_.name.text, signature));
    if (changed && of_.flows[flow].access == Access::read)
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

  File& file_;
  const TaskClass& of_;
  const Body& whole_;
  TileTable table_;
  WordReader& words_;
  Diagnostics& diagnostics_;
  ReadBody out_;
  Scope scope_;
  std::vector<std::string> pointer_names_;
  std::vector<std::unique_ptr<std::string>> names_;  // the scope refers to them
  std::vector<bool> reals_;                          // by slot
};

bool runs_on_cores(const Body& body, const File& file) {
  const Property* type = find(body.properties, "type");
  if (type == nullptr) return true;
  const std::string word = word_of(*type, file);
  return word.empty() || word == "CPU" || word == "cpu";
}

std::optional<ReadBody> read_body(File& file, const TaskClass& of, const Body& body, TileTable table,
                                  Diagnostics& diagnostics) {
  Diagnostics of_words;
  WordReader words(file, words_of(file.source, body.code, Lexing::expression, of_words), diagnostics);
  if (of_words.errors() != 0) {
    const Diagnostic first = of_words.sorted().front();
    diagnostics.error(first.where, first.message, {{body.where, std::string(what_to_do)}});
    return std::nullopt;
  }
  try {
    return BodyReader(file, of, body, table, words, diagnostics).read();
  } catch (const CannotGoOn&) {
    return std::nullopt;  // it has been told
  }
}

/// What a class says of how long its tasks take.
void read_costs(File& file, const TaskClass& of, ReadBody& into) {
  Diagnostics unheard;
  std::uint32_t slots = of.slots;
  Scope scope(file, unheard, &of, file.globals.size(), slots);
  add_names(of, scope, slots);
  const auto value_of = [&](std::string_view name) {
    const Property* const property = find(of.properties, name);
    if (property == nullptr || property->value == no_expression) return no_expression;
    scope.bind_c(property->value);
    return property->value;
  };
  into.flops = value_of("flops");
  into.nanoseconds = value_of("time_estimate");
  into.slots = std::max(into.slots, slots);  // inline C has some of its own
}

}  // namespace

std::vector<ReadBody> read_bodies(File& file, TileTable table, Diagnostics& diagnostics) {
  std::vector<ReadBody> out;
  for (std::size_t i = 0; i < file.classes.size(); ++i) {
    const TaskClass& of = file.classes[i];
    ReadBody& into = out.emplace_back();
    into.slots = of.slots;
    into.name = of.name.text;
    into.is_c = !of.bodies.empty();
    const auto body =
        std::ranges::find_if(of.bodies, [&](const Body& it) { return runs_on_cores(it, file); });
    if (body == of.bodies.end()) {
      if (!of.bodies.empty())
        diagnostics.error(of.bodies[0].where, fmt::format("{} has no body for cores", of.name.text));
    } else if (std::optional<ReadBody> read = read_body(file, of, *body, table, diagnostics)) {
      into = std::move(*read);
    }
    read_costs(file, of, into);
  }
  return out;
}

}  // namespace fairlead::jdf
