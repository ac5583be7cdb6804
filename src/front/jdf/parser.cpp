// Parses the parts of a file and of a task class. After an error it resumes at the next line that starts a part.
#include "front/jdf/parser.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <string_view>

#include "base/suggest.hpp"
#include "front/jdf/c_expressions.hpp"
#include "front/jdf/name_resolution.hpp"
#include "front/jdf/token_stream.hpp"

namespace fairlead::jdf {

namespace {

struct AccessWord {
  std::string_view word;
  FlowAccess access;
};
constexpr std::array<AccessWord, 6> access_words{{{"RW", FlowAccess::read_write},
                                                  {"READ", FlowAccess::read},
                                                  {"RO", FlowAccess::read},
                                                  {"WRITE", FlowAccess::write},
                                                  {"WO", FlowAccess::write},
                                                  {"CTL", FlowAccess::control}}};

const AccessWord* access_word(std::string_view text) {
  const auto* const found = std::ranges::find(access_words, text, &AccessWord::word);
  return found == access_words.end() ? nullptr : found;
}

class Parser {
 public:
  Parser(TokenStream& words) : words_(words) {}

  void file() {
    while (!words_.is(TokenKind::end)) {
      const std::size_t before = words_.place();
      try {
        part();
      } catch (const ParseAborted&) {
        to_next_part(before);
      }
    }
  }

 private:
  JdfFile& tree() const { return words_.file(); }

  void part() {
    switch (words_.peek().token) {
      case TokenKind::external:
        tree().external.push_back(words_.advance().where);
        return;
      case TokenKind::option:
        return option();
      case TokenKind::name:
        if (words_.is(TokenKind::open, 1)) return task_class();
        return global();
      default:
        break;
    }
    if (words_.is(TokenKind::body) || words_.is(TokenKind::body_code) || words_.is(TokenKind::body_end))
      return stray_body();
    words_.fail(words_.peek().where, fmt::format("expected a global, a task class or extern \"C\", found {}",
                                                 name_of(words_.peek().token)));
  }

  /// Skips the body of a class that could not be parsed, which is already reported.
  void stray_body() {
    if (!in_trouble_) words_.diagnostics().error(words_.peek().where, "a BODY outside of a task class");
    while (!words_.is(TokenKind::end) && !words_.is(TokenKind::body_end)) words_.advance();
    words_.match(TokenKind::body_end);
  }

  /// Skips to the start of a class, a global or C code, at least one token further.
  void to_next_part(std::size_t before) {
    in_trouble_ = true;
    if (words_.place() == before) words_.advance();
    while (!words_.is(TokenKind::end)) {
      const bool begins = words_.peek().first && words_.is(TokenKind::name) &&
                          (words_.is(TokenKind::open, 1) || words_.is(TokenKind::open_bracket, 1));
      if (begins || words_.is(TokenKind::external) || words_.is(TokenKind::option) ||
          words_.is(TokenKind::body))
        return;
      words_.advance();
    }
  }

  void option() {
    words_.advance();
    Property property;
    property.name = words_.need_name("the name of an option");
    words_.expect(TokenKind::assign, "after the name of an option");
    property.value = parse_expression(words_, ExpressionContext::value);
    tree().options.push_back(std::move(property));
  }

  void global() {
    Global it;
    it.name = words_.need_name("a name");
    if (words_.match(TokenKind::assign))
      it.value = parse_expression(words_, ExpressionContext::value);
    else if (!words_.is(TokenKind::open_bracket) && !words_.peek().first && !words_.is(TokenKind::end))
      words_.fail(
          words_.peek().where,
          fmt::format("expected \"(\" of a task class, \"[\" of a global's properties or a new line after "
                      "\"{}\", found {}",
                      it.name.text, name_of(words_.peek().token)));
    it.properties = parse_properties(words_);
    if (const Property* type = find(it.properties, "type")) it.type = word_of(*type, tree());
    if (const Property* hidden = find(it.properties, "hidden")) it.hidden = word_of(*hidden, tree()) != "off";
    if (const Property* value = find(it.properties, "default");
        value != nullptr && value->value != no_expression && it.value == no_expression)
      it.value = value->value;
    // A string is C code; often it is an expression as well.
    if (it.value != no_expression && tree().at(it.value).kind == Expression::Kind::text) {
      const ExpressionId inside = parse_embedded_expression(tree(), tree().at(it.value).operator_range);
      tree().expressions[it.value].parsed_content = inside;
    }
    tree().globals.push_back(std::move(it));
    in_trouble_ = false;
  }

  // --- task classes ---

  void task_class() {
    TaskClass it;
    it.name = words_.need_name("a name");
    words_.expect(TokenKind::open, "after the name of a task class");
    if (!words_.is(TokenKind::close)) do
        it.parameters.push_back(words_.need_name("the name of a parameter"));
      while (words_.match(TokenKind::comma));
    words_.expect(TokenKind::close, "after the parameters");
    it.properties = parse_properties(words_);
    in_trouble_ = false;
    bool placed = false;
    while (true) {
      const std::size_t before = words_.place();
      try {
        if (!class_part(it, placed)) break;
      } catch (const ParseAborted&) {
        in_trouble_ = true;
        to_next_line(before);
      }
    }
    if (it.bodies.empty() && !in_trouble_)
      words_.diagnostics().warning(it.name.where, fmt::format("{} has no BODY", it.name.text));
    tree().classes.push_back(std::move(it));
  }

  /// Parses one line of a class; returns false at the end of the class.
  bool class_part(TaskClass& it, bool& placed) {
    switch (words_.peek().token) {
      case TokenKind::colon:
        if (placed)
          words_.diagnostics().error(words_.peek().where,
                                     fmt::format("a second placement of {}", it.name.text),
                                     {{it.placement.datum.where, "the first is here"}});
        placed = true;
        placement(it);
        return true;
      case TokenKind::semicolon:
        words_.advance();
        if (it.priority != no_expression)
          words_.diagnostics().error(words_.peek().where,
                                     fmt::format("a second priority of {}", it.name.text),
                                     {{tree().at(it.priority).where, "the first is here"}});
        it.priority = parse_expression(words_, ExpressionContext::value);
        return true;
      case TokenKind::body:
        body(it);
        return true;
      case TokenKind::arrow_in:
      case TokenKind::arrow_out:
        if (it.flows.empty()) words_.fail(words_.peek().where, "a dependency without a flow before it");
        dependency(it.flows.back());
        return true;
      case TokenKind::name:
        return named_part(it);
      case TokenKind::external:
      case TokenKind::option:
      case TokenKind::end:
        return false;
      default:
        break;
    }
    words_.fail(words_.peek().where, fmt::format("not allowed in a task class: {}", what_follows()));
  }

  std::string what_follows() const {
    return words_.peek().token < TokenKind::plus ? name_of(words_.peek().token)
                                                 : fmt::format("\"{}\"", words_.text());
  }

  bool named_part(TaskClass& it) {
    if (words_.is(TokenKind::open, 1) || (words_.is(TokenKind::open_bracket, 1) && !it.bodies.empty()))
      return false;
    if (words_.is_name("SIMCOST")) {
      words_.advance();
      it.simulation_cost = parse_expression(words_, ExpressionContext::value);
      return true;
    }
    if (const AccessWord* word = access_word(words_.text());
        word != nullptr && words_.is(TokenKind::name, 1)) {
      words_.advance();
      flow(it, word->access, true);
      return true;
    }
    if (words_.is(TokenKind::assign, 1)) {
      if (!it.bodies.empty()) return false;  // a global, after the class
      definition(it);
      return true;
    }
    if (words_.is(TokenKind::arrow_in, 1) || words_.is(TokenKind::arrow_out, 1)) {
      flow(it, FlowAccess::read_write, false);
      return true;
    }
    if (!it.bodies.empty()) return false;
    if (words_.is(TokenKind::name, 1) &&
        (words_.is(TokenKind::arrow_in, 2) || words_.is(TokenKind::arrow_out, 2))) {
      std::vector<std::string_view> known;
      for (const AccessWord& word : access_words) known.push_back(word.word);
      words_.diagnostics().error(words_.peek().where,
                                 fmt::format("\"{}\" is not a kind of flow{}: use RW, READ, WRITE or CTL",
                                             words_.text(), did_you_mean(words_.text(), known)));
      words_.advance();
      flow(it, FlowAccess::read_write, true);
      return true;
    }
    words_.fail(
        words_.peek().where,
        fmt::format(
            "\"{}\" starts no part of a task class: \"=\" makes it a definition, \"<-\" or \"->\" a flow",
            words_.text()));
  }

  /// Skips to the next parsable line of a class, or to the end of the class.
  void to_next_line(std::size_t before) {
    if (words_.place() == before) words_.advance();
    while (!words_.is(TokenKind::end)) {
      if (words_.is(TokenKind::body) || words_.is(TokenKind::external) || words_.is(TokenKind::option))
        return;
      if (words_.peek().first) switch (words_.peek().token) {
          case TokenKind::colon:
          case TokenKind::semicolon:
          case TokenKind::arrow_in:
          case TokenKind::arrow_out:
          case TokenKind::name:
            return;
          default:
            break;
        }
      words_.advance();
    }
  }

  void definition(TaskClass& it) {
    Definition definition;
    definition.name = words_.need_name("a name");
    words_.expect(TokenKind::assign, "after the name of a parameter or local");
    try {
      definition.indices = indices();
      definition.value = parse_expression(words_, ExpressionContext::argument);
      definition.properties = parse_properties(words_);
    } catch (const ParseAborted&) {
      // Define the name anyway, so that its uses are not reported as errors.
      if (definition.value == no_expression) {
        Expression stand_in;
        stand_in.where = definition.name.where;
        tree().expressions.push_back(std::move(stand_in));
        definition.value = static_cast<ExpressionId>(tree().expressions.size() - 1);
      }
      it.definitions.push_back(std::move(definition));
      throw;
    }
    it.definitions.push_back(std::move(definition));
  }

  std::vector<Index> indices() {
    if (!words_.match(TokenKind::open_bracket)) return {};
    std::vector<Index> out = parse_indices(words_);
    words_.expect(TokenKind::close_bracket, "after the local indices");
    return out;
  }

  void placement(TaskClass& it) {
    const std::uint32_t begin = words_.advance().where.begin;
    const ExpressionId where = parse_expression(words_, ExpressionContext::value);
    const Expression& value = tree().at(where);
    it.placement.datum.where = words_.since(begin);
    if (value.kind != Expression::Kind::call) {
      it.placement.kind = Placement::Kind::predicate;
      it.placement.predicate = where;
      return;
    }
    it.placement.kind = Placement::Kind::at_datum;
    it.placement.datum.kind = Target::Kind::memory;
    it.placement.datum.where = value.where;
    it.placement.datum.owner = {value.text, value.operator_range};
    it.placement.datum.arguments = value.arguments;
  }

  void body(TaskClass& it) {
    Body body;
    body.where = words_.advance().where;
    try {
      body.properties = parse_properties(words_);
    } catch (const ParseAborted&) {
      in_trouble_ = true;
      while (!words_.is(TokenKind::end) && !words_.is(TokenKind::body_code)) words_.advance();
    }
    if (words_.is(TokenKind::body_code)) body.code = words_.advance().where;
    words_.match(TokenKind::body_end);
    it.bodies.push_back(std::move(body));
  }

  // --- flows ---

  void flow(TaskClass& it, FlowAccess access, bool keyword) {
    Flow flow;
    flow.access = access;
    flow.keyword = keyword;
    flow.name = words_.need_name("the name of a flow");
    it.flows.push_back(std::move(flow));
    if (!words_.is(TokenKind::arrow_in) && !words_.is(TokenKind::arrow_out) && !words_.peek().first &&
        !words_.is(TokenKind::end)) {
      it.flows.back().broken = true;
      words_.fail(
          words_.peek().where,
          words_.is(TokenKind::open_bracket)
              ? std::string("a flow has no properties; each of its dependencies may have some")
              : fmt::format("expected \"<-\" or \"->\" after the name of a flow, found {}", what_follows()));
    }
    while (words_.is(TokenKind::arrow_in) || words_.is(TokenKind::arrow_out)) dependency(it.flows.back());
  }

  void dependency(Flow& flow) {
    try {
      read_dependency(flow);
    } catch (const ParseAborted&) {
      flow.broken = true;
      throw;
    }
  }

  void read_dependency(Flow& flow) {
    Dependency it;
    const Token& arrow = words_.advance();
    const std::uint32_t begin = arrow.where.begin;
    it.direction = arrow.token == TokenKind::arrow_in ? Direction::in : Direction::out;
    // These indices apply to all branches; with a single target without a guard there is no difference.
    it.indices = indices();
    do {
      Branch branch;
      if (!target_begins()) {
        const ExpressionId value = parse_guard(words_);
        if (!words_.is(TokenKind::question)) {
          memory_target(branch.target, value);
          it.branches.push_back(std::move(branch));
          break;
        }
        words_.advance();
        branch.guard = value;
      }
      branch.target = target();
      const bool guarded = branch.guard != no_expression;
      it.branches.push_back(std::move(branch));
      if (!guarded) break;
    } while (words_.match(TokenKind::colon));
    it.where = words_.since(begin);
    it.properties = parse_properties(words_);
    flow.dependencies.push_back(std::move(it));
  }

  bool target_begins() const {
    if (words_.is(TokenKind::open_bracket)) return true;
    if (!words_.is(TokenKind::name)) return false;
    return words_.is_name("NEW") || words_.is_name("NULL") ||
           (words_.is(TokenKind::name, 1) && words_.is(TokenKind::open, 2));
  }

  Target target() {
    Target it;
    const std::uint32_t begin = words_.peek().where.begin;
    it.indices = indices();
    if (words_.is_name("NEW") || words_.is_name("NULL")) {
      it.kind = words_.is_name("NEW") ? Target::Kind::fresh : Target::Kind::null;
      it.where = words_.advance().where;
      return it;
    }
    if (words_.is(TokenKind::name, 1)) {
      it.kind = Target::Kind::task;
      it.flow = words_.need_name("a flow");
      it.owner = words_.need_name("a task class");
      words_.expect(TokenKind::open, "after the name of a task class");
      if (!words_.is(TokenKind::close)) do
          it.arguments.push_back(parse_expression(words_, ExpressionContext::argument));
        while (words_.match(TokenKind::comma));
      words_.expect(TokenKind::close, "after the arguments");
      it.where = words_.since(begin);
      return it;
    }
    std::vector<Index> of_target = std::move(it.indices);
    memory_target(it, parse_guard(words_));
    it.indices = std::move(of_target);
    if (words_.is(TokenKind::question))
      words_.fail(words_.peek().where,
                  "a second ? here: a guard chooses between two targets, and the second, after "
                  "the \":\", may have a guard again");
    return it;
  }

  void memory_target(Target& it, ExpressionId value) {
    const Expression& place = tree().at(value);
    if (place.kind == Expression::Kind::name)
      words_.fail(place.where, fmt::format("\"{}\" is not a target: A(i, j) is a datum, T TASK(i) a flow of "
                                           "a task, NEW new memory, NULL nothing",
                                           place.text));
    if (place.kind != Expression::Kind::call)
      words_.fail(place.where,
                  "expected a target: A(i, j) is a datum, T TASK(i) a flow of a task, NEW new memory, "
                  "NULL nothing");
    it.kind = Target::Kind::memory;
    it.where = place.where;
    it.owner = {place.text, place.operator_range};
    it.arguments = place.arguments;
  }

  TokenStream& words_;
  bool in_trouble_ = false;  // the previous part could not be parsed
};

}  // namespace

JdfFile parse(SourceFile source, Diagnostics& diagnostics) {
  JdfFile file(std::move(source));
  const auto size = static_cast<std::uint32_t>(file.source.text().size());
  TokenStream words(file, tokenize(file.source, {0, size}, LexMode::file, diagnostics), diagnostics);
  Parser(words).file();
  // Only the expressions that exist now: parsing inline C adds more.
  const auto count = static_cast<ExpressionId>(file.expressions.size());
  for (ExpressionId id = 0; id < count; ++id)
    if (file.at(id).kind == Expression::Kind::inline_c) parse_inline_c(file, id);
  return file;
}

JdfFile read(SourceFile source, Diagnostics& diagnostics) {
  JdfFile file = parse(std::move(source), diagnostics);
  resolve_names(file, diagnostics);
  if (diagnostics.errors() == 0) find_c_expressions(file);
  return file;
}

}  // namespace fairlead::jdf
