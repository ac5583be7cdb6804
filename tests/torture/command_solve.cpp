// Files, child processes and leftovers.
#include "torture/command_solve.hpp"

#include <fairlead/linalg.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/choose_kernels.hpp"
#include "algorithms/linalg/blas/timing_cache.hpp"
#include "data/npy/files.hpp"

namespace fairlead::torture {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double hangs_after = 120;  // seconds

/// As NumPy has it; `values` column-major.
std::string npy(const std::vector<double>& values, std::int64_t rows, std::int64_t columns, bool single,
                bool fortran, bool one_dimension) {
  std::string bytes;
  const auto add = [&](double value) {
    char raw[8];
    const auto narrow = static_cast<float>(value);
    single ? std::memcpy(raw, &narrow, 4) : std::memcpy(raw, &value, 8);
    bytes.append(raw, single ? 4 : 8);
  };
  for (std::int64_t outer = 0; outer < (fortran ? columns : rows); ++outer)
    for (std::int64_t inner = 0; inner < (fortran ? rows : columns); ++inner)
      add(values[static_cast<std::size_t>(fortran ? inner + outer * rows : outer + inner * rows)]);
  const std::string shape =
      one_dimension ? fmt::format("({},)", rows) : fmt::format("({}, {})", rows, columns);
  return data::test::header(1, data::test::dictionary(single ? "<f4" : "<f8", fortran, shape)) + bytes;
}

/// The elements, column-major, of what the program wrote in C order; nothing if that is not whole.
std::vector<double> read_npy(const std::string& file, std::int64_t rows, std::int64_t columns) {
  const auto count = static_cast<std::size_t>(rows * columns);
  const bool single = file.find("'<f4'") != std::string::npos;
  const std::size_t element = single ? 4 : 8;
  if (file.size() < 10 || !file.starts_with("\x93NUMPY")) return {};
  const std::size_t begin =
      10 + static_cast<unsigned char>(file[8]) + 256u * static_cast<unsigned char>(file[9]);
  if (file.size() != begin + count * element) return {};
  std::vector<double> values(count);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
    for (std::size_t j = 0; j < static_cast<std::size_t>(columns); ++j) {
      const char* at = file.data() + begin + (i * static_cast<std::size_t>(columns) + j) * element;
      float narrow = 0;
      double value = 0;
      std::memcpy(single ? static_cast<void*>(&narrow) : &value, at, element);
      values[i + j * static_cast<std::size_t>(rows)] = single ? static_cast<double>(narrow) : value;
    }
  return values;
}

std::string text_of(int descriptor) {
  std::string text(1 << 16, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, pread(descriptor, text.data(), text.size(), 0))));
  return text;
}

/// Waits for the child to end, for at most so many seconds.
bool ends(int child, double seconds) {
  pollfd watched{child, POLLIN, 0};
  const timespec limit{static_cast<time_t>(seconds), static_cast<long>(std::fmod(seconds, 1) * 1e9)};
  return ppoll(&watched, 1, &limit, nullptr) == 1;
}

}  // namespace

bool Ended::exited() const { return WIFEXITED(status); }
int Ended::exit_code() const { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }
std::string Ended::text() const {
  return fmt::format(
      "{} after {:.3f} s{}{}",
      exited() ? fmt::format("exit status {}", exit_code()) : fmt::format("signal {}", WTERMSIG(status)),
      seconds, errors.empty() ? "" : ": ", errors);
}

Kept::Kept() {
  const linalg::KernelSettings settings;
  std::vector<std::string> names;
  for (const linalg::FoundLibrary& found : linalg::find_blas_libraries(settings.loader))
    names.push_back(found.name);
  const linalg::Kernels loaded = linalg::Kernels::load(names.at(0));
  linalg::BlasTiming timing;
  timing.candidate.library = names[0];
  timing.path = loaded.blas().path();
  timing.core_type = loaded.blas().core_type();
  timing.rates = {1, 1, 1, 1};
  linalg::TimingCache(folder_.path(), {linalg::this_processor(), settings.tile, names, ""})
      .write({{timing}, {}});
}

void Kept::expect_nothing_left() const {
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    if (entry.path().extension() != ".txt" && entry.path().extension() != ".lock") {
      fs::remove(entry.path());  // one failure is enough
      throw Wrong(fmt::format("the file {} was left", entry.path().string()));
    }
}

void Kept::remove_half_written() const {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    if (entry.path().extension() == ".new") found.push_back(entry.path());
  for (const auto& path : found) fs::remove(path);
}

CommandSolve::CommandSolve(Run& run, const Kept& kept, Devices devices, bool small) : run_(run), kept_(kept) {
  Random& random = run.random;
  const int n = static_cast<int>(small               ? random.between(240, 400)
                                 : random.once_in(8) ? random.between(1, 600)
                                                     : random.between(1, 200));
  constexpr int sides[] = {1, 1, 2, 5, 16};
  const int columns = sides[random.below(std::size(sides))];
  const int tile = std::max(1, n / static_cast<int>(random.between(small ? 6 : 1, 12)));
  constexpr const char* methods[] = {"lu-nopivot", "lu-incremental", "qr"};
  const bool general = random.once_in(3);
  const bool refine = !general && random.once_in(4);
  in_files_ = small || general || !random.once_in(6);
  if (in_files_) {
    const bool a_single = random.once_in(3), b_single = random.once_in(3);
    system_ = draw_system(random, n, columns, general ? Shape::general : Shape::positive_definite,
                          a_single || b_single);
    single_ = b_single || (a_single && !refine);
    folder_.file("A.npy", npy(system_.a, n, n, a_single, random.once_in(2), false));
    folder_.file("b.npy",
                 npy(system_.b, n, columns, b_single, random.once_in(2), columns == 1 && random.once_in(2)));
    options_ = {"A.npy", "b.npy"};
  } else {
    system_ = {.n = n, .columns = columns};
    write_points(random);
  }
  options_.push_back("-o");
  options_.push_back("x.npy");
  if (refine) options_.push_back("--refine");
  if (general) options_.push_back(fmt::format("--method={}", methods[random.below(std::size(methods))]));
  options_.push_back(fmt::format("--tile={}", tile));
  options_.push_back("--progress=none");
  const std::size_t element = single_ || refine ? 4 : 8;
  const auto side = static_cast<Bytes>((n + tile - 1) / tile);
  const Bytes tile_bytes = rounded_up(static_cast<Bytes>(tile) * static_cast<Bytes>(tile) * element);
  machine_ = draw_machine(
      random, run.index, {tile_bytes, (general ? side * side : side * (side + 1) / 2) * tile_bytes}, devices);
  if (small) {
    machine_.workers = static_cast<int>(random.between(1, 2));
    machine_.memory = 3 * tile_bytes + (machine_.workers > 1 ? 2 * tile_bytes : 0);
    std::erase_if(machine_.options, [](const std::string& option) { return option.starts_with("--window"); });
  }
  // Another kind of file system, which has no direct I/O.
  if (random.once_in(3)) {
    std::string name = "/dev/shm/fairlead-torture-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) {
      other_disk_ = name;
      options_.push_back("--disk-directory=" + name);
    }
  }
  if (random.once_in(2)) options_.push_back("--no-keep-durations");
  options_.push_back("--cache-directory=" + kept.path().string());
  before_ = folder_.everything();
  run.describe(fmt::format("n = {}, {} right-hand sides", n, columns));
}

CommandSolve::~CommandSolve() {
  std::error_code ignored;
  if (!other_disk_.empty()) fs::remove_all(other_disk_, ignored);
}

void CommandSolve::write_points(Random& random) {
  const int n = system_.n, dimensions = static_cast<int>(random.between(1, 3));
  const auto rows = static_cast<std::size_t>(n);
  std::vector<double> points(rows * static_cast<std::size_t>(dimensions));
  for (double& coordinate : points) coordinate = static_cast<double>(random.below(1000)) / 100;
  const double length = 0.5, nugget = 1;
  system_.a.resize(rows * rows);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      double square = 0;
      for (int d = 0; d < dimensions; ++d) {
        const std::size_t column = static_cast<std::size_t>(d) * rows;
        square += std::pow(
            points[column + static_cast<std::size_t>(i)] - points[column + static_cast<std::size_t>(j)], 2);
      }
      system_.at(i, j) = std::exp(-square / (2 * length * length)) + (i == j ? nugget : 0);
    }
  for (std::size_t i = 0; i < rows * static_cast<std::size_t>(system_.columns); ++i)
    system_.b.push_back(2 * random.unit() - 1);
  folder_.file("points.npy", npy(points, n, dimensions, false, random.once_in(2), false));
  folder_.file("b.npy", npy(system_.b, n, system_.columns, false, random.once_in(2), false));
  options_ = {"b.npy", "--kernel=rbf", "--points=points.npy", fmt::format("--length-scale={}", length),
              fmt::format("--nugget={}", nugget)};
}

std::vector<std::string> CommandSolve::words() const {
  std::vector<std::string> words{"solve"};
  words.insert(words.end(), options_.begin(), options_.end());
  for (std::string& word : machine_.words(other_memory_)) {
    // Flags have no value on the command line.
    if (word == "--fast-path=false") word = "--no-fast-path";
    if (word == "--fixed-order=true") word = "--fixed-order";
    words.push_back(std::move(word));
  }
  return words;
}

std::string CommandSolve::command() const { return fmt::format("fairlead {}", fmt::join(words(), " ")); }

Ended CommandSolve::start(const std::vector<std::string>& environment, std::optional<Kill> kill,
                          const std::vector<std::string>& more_words) const {
  std::vector<std::string> all = words();
  all.insert(all.end(), more_words.begin(), more_words.end());
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC), errors = memfd_create("errors", MFD_CLOEXEC);
  const auto began = Clock::now();
  const pid_t process =
      folder_.start(fmt::format("{}", fmt::join(all, " ")), nothing, nothing, errors, environment);
  const int child = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (child < 0) throw Wrong(fmt::format("the program cannot be watched: {}", std::strerror(errno)));
  if (kill && !ends(child, kill->after_seconds)) ::kill(process, kill->signal);
  const bool hung = !ends(child, hangs_after);
  if (hung) ::kill(process, SIGKILL);
  Ended ended;
  waitpid(process, &ended.status, 0);
  ended.seconds = std::chrono::duration<double>(Clock::now() - began).count();
  ended.errors = text_of(errors);
  for (const int descriptor : {nothing, errors, child}) close(descriptor);
  if (hung) throw Wrong(fmt::format("the program has not ended after {} s: {}", hangs_after, ended.errors));
  return ended;
}

Ended CommandSolve::find_memory(Shim* shim, const std::vector<std::string>& more_words) {
  for (int attempt = 0;; ++attempt) {
    restore_output();
    if (shim != nullptr) shim->reset();
    run_.describe(command());
    Ended ended = start(shim == nullptr ? std::vector<std::string>{} : shim->environment(), {}, more_words);
    if (ended.exit_code() == 0) {
      expect_right();
      expect_nothing_left();
      restore_output();
      return ended;
    }
    // "Allow more by --memory", "allow at least ... bytes", "give \"emulated 0\" at least ... bytes"
    const bool refused = ended.exited() && ended.exit_code() <= 2 &&
                         (ended.errors.find("llow ") != std::string::npos ||
                          ended.errors.find(" at least ") != std::string::npos);
    if (!refused || attempt == 30) throw Wrong("undisturbed, it fails: " + ended.text());
    if (!output_is_as_before()) throw Wrong("refused, it has left an output");
    // "5.3 MiB are needed in addition to them": rounded, so a little more is.
    const auto at = ended.errors.find("tiles: ");
    double mebibytes = 0;
    if (at != std::string::npos && std::sscanf(ended.errors.c_str() + at + 7, "%lf MiB", &mebibytes) == 1 &&
        attempt == 0)
      other_memory_ = static_cast<Bytes>((mebibytes + 0.06) * 0x1p20);
    // "allow at least 3.173 MiB of memory": rounded, so a little more is needed.
    else if (const auto least = ended.errors.find("allow at least ");
             least != std::string::npos &&
             std::sscanf(ended.errors.c_str() + least + 15, "%lf MiB of memory", &mebibytes) == 1 &&
             static_cast<Bytes>((mebibytes + 0.001) * 0x1p20) > machine_.memory + other_memory_)
      other_memory_ = static_cast<Bytes>((mebibytes + 0.001) * 0x1p20) - machine_.memory;
    else {
      other_memory_ += std::max({machine_.memory / 2, other_memory_ / 4, Bytes{1} << 17});
      for (Machine::Device& device : machine_.devices) device.memory += device.memory / 2;
    }
  }
}

std::string CommandSolve::old_output() const {
  return npy(std::vector<double>(12, 1.5), 12, 1, false, false, true);
}

void CommandSolve::restore_output() const {
  if (begins_with_output_)
    std::ofstream(folder_.path() / "x.npy", std::ios::binary) << old_output();
  else
    fs::remove(folder_.path() / "x.npy");
}

bool CommandSolve::has_output() const { return fs::exists(folder_.path() / "x.npy"); }

double CommandSolve::output_error() const {
  return backward_error(system_, read_npy(folder_.content("x.npy"), system_.n, system_.columns));
}

double CommandSolve::allowed() const { return allowed_error(system_.n, single_); }

void CommandSolve::expect_right() const {
  if (!has_output()) throw Wrong("the exit status is 0, and there is no output");
  const std::string file = folder_.content("x.npy");
  const std::vector<double> x = read_npy(file, system_.n, system_.columns);
  if (x.empty()) throw Wrong(fmt::format("the output is not whole: {} bytes", file.size()));
  const double error = backward_error(system_, x);
  if (!(error <= allowed()))
    throw Wrong(fmt::format("the backward error is {:.3g}, above {:.3g}", error, allowed()));
  const double apart = difference(x, eliminate(system_).x, static_cast<std::size_t>(system_.n));
  // Points close to each other increase the condition number by some tens.
  const double most = (in_files_ ? 100 : 1000) * allowed();
  if (!(apart <= most))
    throw Wrong(
        fmt::format("the solution is {:.3g} from that of plain elimination, more than {:.3g}", apart, most));
}

bool CommandSolve::output_is_as_before() const {
  return begins_with_output_ ? folder_.content("x.npy") == old_output() : !has_output();
}

bool CommandSolve::left_a_partial_output() const {
  return std::ranges::any_of(folder_.everything(), [](const auto& file) {
    return file.first.starts_with(".x.npy.") && file.first.ends_with(".partial");
  });
}

void CommandSolve::expect_nothing_left() const {
  auto now = folder_.everything();
  now.erase("x.npy");
  for (const auto& [name, content] : now)
    if (!before_.contains(name))
      throw Wrong(fmt::format("the file {} of {} bytes was left", name, content.size()));
  kept_.expect_nothing_left();
  if (now != before_) throw Wrong("an input was changed");
  if (!other_disk_.empty() && !fs::is_empty(other_disk_))
    throw Wrong(fmt::format("the file {} was left", fs::directory_iterator(other_disk_)->path().string()));
}

namespace {

class CommandRuns final : public Campaign {
 public:
  explicit CommandRuns(Devices devices) : devices_(devices) {}
  void run(Run& run) override {
    CommandSolve solve(run, kept_, devices_, false);
    if (run.random.once_in(4)) solve.begin_with_output();
    solve.find_memory();
  }
  std::string summary(std::uint64_t runs) override {
    return fmt::format("{} systems were solved from file to file", runs);
  }

 private:
  const Devices devices_;
  const Kept kept_;
};

}  // namespace

std::unique_ptr<Campaign> command_runs(Devices devices) { return std::make_unique<CommandRuns>(devices); }

}  // namespace fairlead::torture
