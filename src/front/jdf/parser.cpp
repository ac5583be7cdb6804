// The parts of a file and of a task class. After a mistake it goes on with the next line that begins something.
#include "front/jdf/parser.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <string_view>

#include "base/suggest.hpp"
#include "front/jdf/c_leaves.hpp"
#include "front/jdf/names.hpp"
#include "front/jdf/parser_words.hpp"

namespace fairlead::jdf {

namespace {

struct AccessWord {
  std::string_view word;
  Access access;
};
constexpr std::array<AccessWord, 6> access_words{{{"RW", Access::read_write},
                                                  {"READ", Access::read},
                                                  {"RO", Access::read},
                                                  {"WRITE", Access::write},
                                                  {"WO", Access::write},
                                                  {"CTL", Access::control}}};

const AccessWord* access_word(std::string_view text) {
  const auto* const found = std::ranges::find(access_words, text, &AccessWord::word);
  return found == access_words.end() ? nullptr : found;
}

class Parser {
 public:
  Parser(WordReader& words) : words_(words) {}

  void file() {
    while (!words_.is(Token::end)) {
      const std::size_t before = words_.place();
      try {
        part();
      } catch (const CannotGoOn&) {
        to_next_part(before);
      }
    }
  }

 private:
  File& tree() const { return words_.file(); }

  void part() {
    switch (words_.peek().token) {
      case Token::external:
        tree().external.push_back(words_.next().where);
        return;
      case Token::option:
        return option();
      case Token::name:
        if (words_.is(Token::open, 1)) return task_class();
        return global();
      default:
        break;
    }
    if (words_.is(Token::body) || words_.is(Token::body_code) || words_.is(Token::body_end))
      return stray_body();
    words_.fail(words_.peek().where, fmt::format("expected a global, a task class or extern \"C\", found {}",
                                                 name_of(words_.peek().token)));
  }

  /// A body whose class could not be read; said already.
  void stray_body() {
    if (!in_trouble_) words_.diagnostics().error(words_.peek().where, "a BODY outside of a task class");
    while (!words_.is(Token::end) && !words_.is(Token::body_end)) words_.next();
    words_.take(Token::body_end);
  }

  /// To where a class, a global or C begins, past at least one word.
  void to_next_part(std::size_t before) {
    in_trouble_ = true;
    if (words_.place() == before) words_.next();
    while (!words_.is(Token::end)) {
      const bool begins = words_.peek().first && words_.is(Token::name) &&
                          (words_.is(Token::open, 1) || words_.is(Token::open_bracket, 1));
      if (begins || words_.is(Token::external) || words_.is(Token::option) || words_.is(Token::body)) return;
      words_.next();
    }
  }

  void option() {
    words_.next();
    Property property;
    property.name = words_.need_name("the name of an option");
    words_.need(Token::assign, "after the name of an option");
    property.value = parse_expression(words_, Use::value);
    tree().options.push_back(std::move(property));
  }

  void global() {
    Global it;
    it.name = words_.need_name("a name");
    if (words_.take(Token::assign))
      it.value = parse_expression(words_, Use::value);
    else if (!words_.is(Token::open_bracket) && !words_.peek().first && !words_.is(Token::end))
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
    // A string is C; often it is an expression as well.
    if (it.value != no_expression && tree().at(it.value).kind == Expression::Kind::text) {
      const ExpressionId inside = expression_within(tree(), tree().at(it.value).mark);
      tree().expressions[it.value].evaluated = inside;
    }
    tree().globals.push_back(std::move(it));
    in_trouble_ = false;
  }

  // --- task classes ---

  void task_class() {
    TaskClass it;
    it.name = words_.need_name("a name");
    words_.need(Token::open, "after the name of a task class");
    if (!words_.is(Token::close)) do
        it.parameters.push_back(words_.need_name("the name of a parameter"));
      while (words_.take(Token::comma));
    words_.need(Token::close, "after the parameters");
    it.properties = parse_properties(words_);
    in_trouble_ = false;
    bool placed = false;
    while (true) {
      const std::size_t before = words_.place();
      try {
        if (!class_part(it, placed)) break;
      } catch (const CannotGoOn&) {
        in_trouble_ = true;
        to_next_line(before);
      }
    }
    if (it.bodies.empty() && !in_trouble_)
      words_.diagnostics().warning(it.name.where, fmt::format("{} has no BODY", it.name.text));
    tree().classes.push_back(std::move(it));
  }

  /// One line of a class; false if the class is over.
  bool class_part(TaskClass& it, bool& placed) {
    switch (words_.peek().token) {
      case Token::colon:
        if (placed)
          words_.diagnostics().error(words_.peek().where,
                                     fmt::format("{} is placed a second time", it.name.text),
                                     {{it.placement.datum.where, "it is placed here"}});
        placed = true;
        placement(it);
        return true;
      case Token::semicolon:
        words_.next();
        if (it.priority != no_expression)
          words_.diagnostics().error(words_.peek().where,
                                     fmt::format("a second priority of {}", it.name.text),
                                     {{tree().at(it.priority).where, "the first is here"}});
        it.priority = parse_expression(words_, Use::value);
        return true;
      case Token::body:
        body(it);
        return true;
      case Token::arrow_in:
      case Token::arrow_out:
        if (it.flows.empty())
          words_.fail(words_.peek().where, "a dependency, but no flow before it that has it");
        dependency(it.flows.back());
        return true;
      case Token::name:
        return named_part(it);
      case Token::external:
      case Token::option:
      case Token::end:
        return false;
      default:
        break;
    }
    words_.fail(words_.peek().where, fmt::format("this means nothing in a task class: {}", what_follows()));
  }

  std::string what_follows() const {
    return words_.peek().token < Token::plus ? name_of(words_.peek().token)
                                             : fmt::format("\"{}\"", words_.text());
  }

  bool named_part(TaskClass& it) {
    if (words_.is(Token::open, 1) || (words_.is(Token::open_bracket, 1) && !it.bodies.empty())) return false;
    if (words_.is_name("SIMCOST")) {
      words_.next();
      it.simulation_cost = parse_expression(words_, Use::value);
      return true;
    }
    if (const AccessWord* word = access_word(words_.text()); word != nullptr && words_.is(Token::name, 1)) {
      words_.next();
      flow(it, word->access, true);
      return true;
    }
    if (words_.is(Token::assign, 1)) {
      if (!it.bodies.empty()) return false;  // a global, after the class
      definition(it);
      return true;
    }
    if (words_.is(Token::arrow_in, 1) || words_.is(Token::arrow_out, 1)) {
      flow(it, Access::read_write, false);
      return true;
    }
    if (!it.bodies.empty()) return false;
    if (words_.is(Token::name, 1) && (words_.is(Token::arrow_in, 2) || words_.is(Token::arrow_out, 2))) {
      std::vector<std::string_view> known;
      for (const AccessWord& word : access_words) known.push_back(word.word);
      words_.diagnostics().error(words_.peek().where,
                                 fmt::format("\"{}\" is no kind of flow{}: there are RW, READ, WRITE and CTL",
                                             words_.text(), did_you_mean(words_.text(), known)));
      words_.next();
      flow(it, Access::read_write, true);
      return true;
    }
    words_.fail(
        words_.peek().where,
        fmt::format("\"{}\" begins nothing that a task class has: \"=\" makes it a definition, \"<-\" or "
                    "\"->\" a flow",
                    words_.text()));
  }

  /// To the next line of a class that could be read, or to where it is over.
  void to_next_line(std::size_t before) {
    if (words_.place() == before) words_.next();
    while (!words_.is(Token::end)) {
      if (words_.is(Token::body) || words_.is(Token::external) || words_.is(Token::option)) return;
      if (words_.peek().first) switch (words_.peek().token) {
          case Token::colon:
          case Token::semicolon:
          case Token::arrow_in:
          case Token::arrow_out:
          case Token::name:
            return;
          default:
            break;
        }
      words_.next();
    }
  }

  void definition(TaskClass& it) {
    Definition definition;
    definition.name = words_.need_name("a name");
    words_.need(Token::assign, "after the name of a parameter or local");
    try {
      definition.indices = indices();
      definition.value = parse_expression(words_, Use::argument);
      definition.properties = parse_properties(words_);
    } catch (const CannotGoOn&) {
      // It is there, whatever it is: those who use it are not wrong.
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
    if (!words_.take(Token::open_bracket)) return {};
    std::vector<Index> out = parse_indices(words_);
    words_.need(Token::close_bracket, "after the local indices");
    return out;
  }

  void placement(TaskClass& it) {
    const std::uint32_t begin = words_.next().where.begin;
    const ExpressionId where = parse_expression(words_, Use::value);
    const Expression& value = tree().at(where);
    it.placement.datum.where = words_.since(begin);
    if (value.kind != Expression::Kind::call) {
      it.placement.kind = Placement::Kind::predicate;
      it.placement.predicate = where;
      return;
    }
    it.placement.kind = Placement::Kind::datum;
    it.placement.datum.kind = Target::Kind::memory;
    it.placement.datum.where = value.where;
    it.placement.datum.of = {value.text, value.mark};
    it.placement.datum.arguments = value.arguments;
  }

  void body(TaskClass& it) {
    Body body;
    body.where = words_.next().where;
    try {
      body.properties = parse_properties(words_);
    } catch (const CannotGoOn&) {
      in_trouble_ = true;
      while (!words_.is(Token::end) && !words_.is(Token::body_code)) words_.next();
    }
    if (words_.is(Token::body_code)) body.code = words_.next().where;
    words_.take(Token::body_end);
    it.bodies.push_back(std::move(body));
  }

  // --- flows ---

  void flow(TaskClass& it, Access access, bool keyword) {
    Flow flow;
    flow.access = access;
    flow.keyword = keyword;
    flow.name = words_.need_name("the name of a flow");
    it.flows.push_back(std::move(flow));
    if (!words_.is(Token::arrow_in) && !words_.is(Token::arrow_out) && !words_.peek().first &&
        !words_.is(Token::end)) {
      it.flows.back().broken = true;
      words_.fail(
          words_.peek().where,
          words_.is(Token::open_bracket)
              ? std::string("a flow has no properties; each of its dependencies may have some")
              : fmt::format("expected \"<-\" or \"->\" after the name of a flow, found {}", what_follows()));
    }
    while (words_.is(Token::arrow_in) || words_.is(Token::arrow_out)) dependency(it.flows.back());
  }

  void dependency(Flow& flow) {
    try {
      read_dependency(flow);
    } catch (const CannotGoOn&) {
      flow.broken = true;
      throw;
    }
  }

  void read_dependency(Flow& flow) {
    Dependency it;
    const Word& arrow = words_.next();
    const std::uint32_t begin = arrow.where.begin;
    it.direction = arrow.token == Token::arrow_in ? Direction::in : Direction::out;
    // Indices here are for all of it; of a target without a guard that is the same.
    it.indices = indices();
    do {
      Branch branch;
      if (!target_begins()) {
        const ExpressionId value = parse_guard(words_);
        if (!words_.is(Token::question)) {
          memory_target(branch.target, value);
          it.branches.push_back(std::move(branch));
          break;
        }
        words_.next();
        branch.guard = value;
      }
      branch.target = target();
      const bool guarded = branch.guard != no_expression;
      it.branches.push_back(std::move(branch));
      if (!guarded) break;
    } while (words_.take(Token::colon));
    it.where = words_.since(begin);
    it.properties = parse_properties(words_);
    flow.dependencies.push_back(std::move(it));
  }

  bool target_begins() const {
    if (words_.is(Token::open_bracket)) return true;
    if (!words_.is(Token::name)) return false;
    return words_.is_name("NEW") || words_.is_name("NULL") ||
           (words_.is(Token::name, 1) && words_.is(Token::open, 2));
  }

  Target target() {
    Target it;
    const std::uint32_t begin = words_.peek().where.begin;
    it.indices = indices();
    if (words_.is_name("NEW") || words_.is_name("NULL")) {
      it.kind = words_.is_name("NEW") ? Target::Kind::fresh : Target::Kind::null;
      it.where = words_.next().where;
      return it;
    }
    if (words_.is(Token::name, 1)) {
      it.kind = Target::Kind::task;
      it.flow = words_.need_name("a flow");
      it.of = words_.need_name("a task class");
      words_.need(Token::open, "after the name of a task class");
      if (!words_.is(Token::close)) do
          it.arguments.push_back(parse_expression(words_, Use::argument));
        while (words_.take(Token::comma));
      words_.need(Token::close, "after the arguments");
      it.where = words_.since(begin);
      return it;
    }
    std::vector<Index> of_target = std::move(it.indices);
    memory_target(it, parse_guard(words_));
    it.indices = std::move(of_target);
    if (words_.is(Token::question))
      words_.fail(words_.peek().where,
                  "a second ? here: a guard chooses between two targets, and the second, after "
                  "the \":\", may have a guard again");
    return it;
  }

  void memory_target(Target& it, ExpressionId value) {
    const Expression& place = tree().at(value);
    if (place.kind == Expression::Kind::name)
      words_.fail(
          place.where,
          fmt::format("\"{}\" is no target: A(i, j) is a datum, T TASK(i) a flow of a task, NEW new memory, "
                      "NULL nothing",
                      place.text));
    if (place.kind != Expression::Kind::call)
      words_.fail(place.where,
                  "expected a target: A(i, j) is a datum, T TASK(i) a flow of a task, NEW new memory, "
                  "NULL nothing");
    it.kind = Target::Kind::memory;
    it.where = place.where;
    it.of = {place.text, place.mark};
    it.arguments = place.arguments;
  }

  WordReader& words_;
  bool in_trouble_ = false;  // the part before this could not be read
};

}  // namespace

File parse(Source source, Diagnostics& diagnostics) {
  File file(std::move(source));
  const auto size = static_cast<std::uint32_t>(file.source.text().size());
  WordReader words(file, words_of(file.source, {0, size}, Lexing::file, diagnostics), diagnostics);
  Parser(words).file();
  // Those that are there now: what is looked into adds further ones.
  const auto count = static_cast<ExpressionId>(file.expressions.size());
  for (ExpressionId id = 0; id < count; ++id)
    if (file.at(id).kind == Expression::Kind::inline_c) look_into_inline_c(file, id);
  return file;
}

File read(Source source, Diagnostics& diagnostics) {
  File file = parse(std::move(source), diagnostics);
  bind_names(file, diagnostics);
  if (diagnostics.errors() == 0) find_c_leaves(file);
  return file;
}

}  // namespace fairlead::jdf
