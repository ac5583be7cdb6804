// Parses the lines of a recorded flow, and converts them to a program.
#include "simulate/flow_file.hpp"
#include "base/file_descriptor.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

namespace fairlead::simulate {

namespace {

/// The beginning of arbitrary text, for a message.
std::string printable(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string shown(text.substr(0, most));
  for (char& letter : shown)
    if (static_cast<unsigned char>(letter) < 0x20 || static_cast<unsigned char>(letter) >= 0x7f) letter = '?';
  return text.size() > most ? shown + "..." : shown;
}

constexpr Bytes largest_datum = Bytes{1} << 56;
constexpr std::int32_t most_tiles = 1 << 20;  // per row or column: policies have tables of them
constexpr float most_work = 1e30f;
constexpr double longest = 1e17;  // ns; three years

enum class Unit : std::uint8_t { none, flops, nanoseconds };

struct Codelet {
  std::string name;
  Unit unit;
};
struct Datum {
  Bytes bytes;
  std::int32_t matrix, row, column;
  bool has_value;
  std::string name;
};
struct Use {
  std::size_t datum;
  AccessMode mode;
};
struct FlowFileTask {
  std::size_t codelet;
  std::int32_t priority;
  float work;
  std::uint64_t phase;
  std::vector<Use> uses;
};
/// By codelet: duration in ns, by bytes.
using Durations = std::map<std::string, std::map<Bytes, double>, std::less<>>;

/// One line, parsed word by word.
class Line {
 public:
  Line(std::string_view text, std::string_view file, std::size_t number)
      : rest_(text), file_(file), number_(number) {}

  bool at_end() const noexcept { return rest_.empty(); }
  [[noreturn]] void refuse(std::string_view why) const {
    throw InputError(fmt::format("{}:{}: {}", file_, number_, why));
  }
  std::string_view word(std::string_view what) {
    if (rest_.empty()) refuse(fmt::format("{} is missing", what));
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  std::string rest() { return std::string(std::exchange(rest_, {})); }
  void end() const {
    if (!rest_.empty()) refuse(fmt::format("nothing should follow, but there is \"{}\"", rest_));
  }
  template <class T>
  T number(std::string_view what, std::string_view written) const {
    T value{};
    const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), value);
    if (error != std::errc{} || end != written.data() + written.size())
      refuse(fmt::format("\"{}\" is not {}", written, what));
    return value;
  }
  template <class T>
  T number(std::string_view what) {
    return number<T>(what, word(what));
  }
  /// A number in a range, both ends included.
  template <class T>
  T number(std::string_view what, T least, T most) {
    const std::string_view written = word(what);
    const T value = number<T>(what, written);
    if (!(value >= least && value <= most))
      refuse(fmt::format("{} must be from {} to {}, not {}", what, least, most, written));
    return value;
  }
  std::size_t known(std::string_view what, std::string_view written, std::size_t count) const {
    const auto value = number<std::size_t>(fmt::format("the number of a {}", what), written);
    if (value >= count) refuse(fmt::format("there is no {} {} yet", what, value));
    return value;
  }
  /// Checks the number of the object that the line introduces.
  void next(std::string_view what, std::size_t count) {
    if (number<std::size_t>(fmt::format("the number of a {}", what)) != count)
      refuse(fmt::format("this should be {} {}", what, count));
  }

 private:
  std::string_view rest_, file_;
  std::size_t number_;
};

AccessMode mode_of(std::string_view letters, const Line& line) {
  if (letters == "r") return AccessMode::read;
  if (letters == "w") return AccessMode::write;
  if (letters == "rw") return AccessMode::read_write;
  if (letters == "c") return AccessMode::commutative;
  if (letters == "x") return AccessMode::reduction;
  line.refuse(fmt::format("\"{}\" is no kind of access: r, w, rw, c or x", letters));
}

class Lines {
 public:
  Lines(std::string_view text, std::string_view file) {
    std::size_t number = 0;
    bool ended = false;
    while (!text.empty()) {
      const std::size_t length = text.find('\n');
      std::string_view content = text.substr(0, length);
      if (length != std::string_view::npos && content.ends_with('\r'))
        content.remove_suffix(1);  // a line ending of Windows
      Line line(content, file, ++number);
      if (ended) line.refuse("the file goes on after its end");
      if (length == std::string_view::npos)
        line.refuse("the file ends in the middle of a line: it is incomplete");
      if (number == 1)
        read_version(line);
      else
        ended = read(line);
      text.remove_prefix(length + 1);
    }
    if (!ended)
      throw InputError(fmt::format(
          "{}:{}: the file is incomplete: the program that was recorded did not end, or the disk was full",
          file, number + 1));
  }

  std::vector<Codelet> codelets;
  std::vector<Datum> data;
  std::vector<FlowFileTask> tasks;
  Durations durations;
  std::vector<std::string> left_out;
  std::uint64_t phases = 0;

 private:
  static void read_version(Line& line) {
    if (line.at_end() || line.word("") != "fairlead-flow")
      line.refuse("this is no recorded flow, which begins with \"fairlead-flow 1\"");
    if (const auto version = line.word("the version"); version != "1")
      line.refuse(fmt::format("version \"{}\" of recorded flows is not known; this is for version 1",
                              printable(version)));
    line.end();
  }

  /// Returns true for the last line.
  bool read(Line& line) {
    const std::string_view kind = line.word("what the line is about");
    if (kind == "task") {
      read_task(line);
    } else if (kind == "datum") {
      read_datum(line);
    } else if (kind == "codelet") {
      line.next("codelet", codelets.size());
      line.word("the kinds of workers");
      const std::string_view unit = line.word("the unit");
      if (unit != "none" && unit != "flops" && unit != "nanoseconds")
        line.refuse(fmt::format("\"{}\" is no unit: none, flops or nanoseconds", unit));
      codelets.push_back({line.rest(), unit == "flops"  ? Unit::flops
                                       : unit == "none" ? Unit::none
                                                        : Unit::nanoseconds});
    } else if (kind == "file") {
      line.next("file", files_++);
    } else if (kind == "phase") {
      if (line.number<std::uint64_t>("the number of a phase") != ++phases)
        line.refuse(fmt::format("this should be phase {}", phases));
      line.end();
    } else if (kind == "duration") {
      read_duration(line);
    } else if (kind == "left-out") {
      left_out.push_back(line.rest());
    } else if (kind == "unrecorded") {
      line.refuse(fmt::format("from here on the program could not be recorded: {}", line.rest()));
    } else if (kind == "end") {
      if (line.number<std::size_t>("a count of data") != data.size() ||
          line.number<std::size_t>("a count of tasks") != tasks.size())
        line.refuse(
            fmt::format("lines are missing: there are {} data and {} tasks", data.size(), tasks.size()));
      line.end();
      return true;
    } else {
      line.refuse(fmt::format("a line about \"{}\" is not known", printable(kind)));
    }
    return false;
  }

  void read_datum(Line& line) {
    line.next("datum", data.size());
    Datum datum{};
    datum.bytes = line.number<Bytes>("a count of bytes", 0, largest_datum);
    datum.matrix =
        line.number<std::int32_t>("the number of a matrix", -1, std::numeric_limits<std::int32_t>::max());
    datum.row = line.number<std::int32_t>("a row", -1, most_tiles);
    datum.column = line.number<std::int32_t>("a column", -1, most_tiles);
    const std::string_view fill_template = line.word("value or empty");
    if (fill_template != "value" && fill_template != "empty")
      line.refuse(fmt::format("\"{}\" is neither value nor empty", fill_template));
    datum.has_value = fill_template == "value";
    datum.name = line.rest();
    data.push_back(std::move(datum));
  }

  void read_task(Line& line) {
    if (phases == 0) line.refuse("the first phase should begin before the first task");
    FlowFileTask task{};
    task.codelet = line.known("codelet", line.word("the codelet"), codelets.size());
    const std::string_view place = line.word("the file and line");
    line.known("file", place.substr(0, place.find(':')), files_);
    task.priority = line.number<std::int32_t>("a priority");
    task.work = line.number<float>("an amount of work", 0, most_work);
    task.phase = phases;
    while (!line.at_end()) {
      const std::string_view access = line.word("an access");
      const std::size_t digits = std::min(access.find_first_of("0123456789"), access.size());
      const AccessMode mode = mode_of(access.substr(0, digits), line);
      const std::size_t datum = line.known("datum", access.substr(digits), data.size());
      if (std::ranges::find(task.uses, datum, &Use::datum) != task.uses.end())
        line.refuse(fmt::format("datum {} is used twice", datum));
      task.uses.push_back({datum, mode});
    }
    tasks.push_back(std::move(task));
  }

  void read_duration(Line& line) {
    const std::string_view kind = line.word("a kind of worker");
    const auto size = line.number<Bytes>("a size");
    line.number<std::uint64_t>("a count of tasks");
    const auto nanoseconds = line.number<double>("a duration", 0, longest);
    if (kind == "cpu") durations[line.rest()].emplace(size, nanoseconds);
  }

  std::size_t files_ = 0;
};

class Conversion {
 public:
  Conversion(const Lines& lines, std::string_view file, Precision precision,
             std::optional<std::uint64_t> phase)
      : lines_(lines), precision_(precision), phase_(phase) {
    if (phase && (*phase == 0 || *phase > lines.phases))
      throw ConfigError(
          fmt::format("{} has no phase {}; there are {}, counted from 1", file, *phase, lines.phases));
    Program& program = out_.program;
    program.title = phase ? fmt::format("{}, phase {} of {}", file, *phase, lines.phases) : std::string(file);
    out_.phases = lines.phases;
    out_.left_out = lines.left_out;
    find_used();
    add_data();
    for (const FlowFileTask& task : lines.tasks)
      if (wanted(task)) add(task);
    if (reductions_ != 0)
      out_.left_out.push_back(fmt::format(
          "{} reductions are simulated one after the other, as commutative accesses", reductions_));
  }
  FlowFile take() { return std::move(out_); }

 private:
  bool wanted(const FlowFileTask& task) const { return !phase_ || task.phase == *phase_; }

  /// Marks the data that the tasks use; data written in earlier phases have a value.
  void find_used() {
    used_.resize(lines_.data.size());
    for (const Datum& datum : lines_.data) has_value_.push_back(datum.has_value);
    for (const FlowFileTask& task : lines_.tasks)
      for (const Use& use : task.uses) {
        if (wanted(task))
          used_[use.datum] = true;
        else if (!used_[use.datum] && writes(use.mode))
          has_value_[use.datum] = true;
      }
  }

  /// Adds tiles by matrix, row and column, like workloads; then the other data in the order of the file.
  void add_data() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < used_.size(); ++i)
      if (used_[i]) order.push_back(i);
    const auto place = [&](std::size_t i) {
      const Datum& datum = lines_.data[i];
      return datum.matrix < 0 ? std::tuple(std::numeric_limits<std::int32_t>::max(), -1, -1, i)
                              : std::tuple(datum.matrix, datum.row, datum.column, i);
    };
    std::ranges::sort(order, {}, place);
    index_.resize(used_.size());
    std::map<std::int32_t, std::int16_t> collections;
    Program& program = out_.program;
    for (const std::size_t i : order) {
      const Datum& datum = lines_.data[i];
      const auto [collection, is_new] = collections.emplace(datum.matrix, std::int16_t{});
      if (is_new)
        collection->second =
            program.collection(datum.matrix < 0 ? "data" : datum.name.substr(0, datum.name.rfind('[')));
      index_[i] = program.datum({.bytes = datum.bytes,
                                 .collection = collection->second,
                                 .row = datum.row,
                                 .column = datum.column,
                                 .has_value = has_value_[i]});
      program.names.push_back(datum.name);
      program.tiles = std::max({program.tiles, datum.row + 1, datum.column + 1});
    }
  }

  void add(const FlowFileTask& task) {
    const Codelet& codelet = lines_.codelets[task.codelet];
    Bytes bytes = 0, smallest = std::numeric_limits<Bytes>::max();
    std::vector<ProgramUse> uses;
    for (const Use& use : task.uses) {
      const bool reduces = use.mode == AccessMode::reduction;
      reductions_ += reduces;
      uses.push_back({index_[use.datum], reduces ? AccessMode::commutative : use.mode});
      bytes += lines_.data[use.datum].bytes;
      smallest = std::min(smallest, lines_.data[use.datum].bytes);
    }
    const double elements =
        uses.empty() ? 1 : static_cast<double>(smallest) / static_cast<double>(element_bytes(precision_));
    out_.program.add({.kernel = out_.program.kernel(codelet.name),
                      .priority = task.priority,
                      .flops = flops_of(task, codelet, bytes),
                      .side = static_cast<float>(std::sqrt(elements))},
                     uses);
  }

  float flops_of(const FlowFileTask& task, const Codelet& codelet, Bytes bytes) {
    if (codelet.unit == Unit::flops) return ++out_.counted, task.work;
    double nanoseconds = codelet.unit == Unit::nanoseconds ? static_cast<double>(task.work) : 0;
    if (const auto known = lines_.durations.find(codelet.name);
        nanoseconds == 0 && codelet.unit == Unit::none && known != lines_.durations.end())
      nanoseconds = duration(known->second, bytes);
    if (nanoseconds > 0)
      return ++out_.measured, static_cast<float>(nanoseconds * assumed_flops_per_nanosecond);
    return ++out_.assumed, static_cast<float>(static_cast<double>(bytes) * assumed_flops_per_byte);
  }

  /// The duration at the nearest measured size, scaled in proportion.
  static double duration(const std::map<Bytes, double>& by_bytes, Bytes bytes) {
    auto nearest = by_bytes.lower_bound(bytes);
    if (nearest == by_bytes.end() ||
        (nearest != by_bytes.begin() && nearest->first - bytes > bytes - std::prev(nearest)->first))
      --nearest;
    if (nearest->first == 0) return nearest->second;
    return nearest->second * static_cast<double>(bytes) / static_cast<double>(nearest->first);
  }

  const Lines& lines_;
  Precision precision_;
  std::optional<std::uint64_t> phase_;
  std::vector<bool> used_, has_value_;
  std::vector<DatumIndex> index_;
  std::uint64_t reductions_ = 0;
  FlowFile out_;
};

}  // namespace

FlowFile read_flow_text(std::string_view text, std::string_view file, Precision precision,
                        std::optional<std::uint64_t> phase) {
  const Lines lines(text, file);
  return Conversion(lines, file, precision, phase).take();
}

FlowFile read_flow_file(const std::string& path, Precision precision, std::optional<std::uint64_t> phase) {
  const auto text = read_file(path);
  if (!text)
    throw SystemError(
        fmt::format("the recorded flow {} cannot be read: {}", path, std::generic_category().message(errno)));
  return read_flow_text(*text, path, precision, phase);
}

}  // namespace fairlead::simulate
