// Runs the program, and checks its files.
#include "misuse/command/folder.hpp"
#include "sanitized.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace fairlead::misuse {

namespace fs = std::filesystem;

namespace {

// Timings of BLAS are kept by machine: here for all tests of one kind of build.
std::string cache_directory() { return testing::TempDir() + "fairlead-misuse-cache"; }

std::string read_all(int descriptor) {
  std::string text;
  char buffer[4096];
  lseek(descriptor, 0, SEEK_SET);
  for (ssize_t count; (count = ::read(descriptor, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  return text;
}

int unnamed_file() {
  const int descriptor = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) throw std::runtime_error("no temporary file");
  return descriptor;
}

}  // namespace

Folder::Folder() {
  std::string name = testing::TempDir() + "fairlead-misuse-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
  array("A.npy", "<f8", "(40, 40)", spd_elements(40));
  array("b.npy", "<f8", "(40,)", bytes_of(std::vector<double>(40, 1.0)));
}

Folder::~Folder() {
  for (const auto& mounted : mounted_) umount2(mounted.c_str(), MNT_DETACH);
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void Folder::array(const std::string& name, const std::string& type, const std::string& shape,
                   const std::string& elements) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(117, ' ');
  file(name, std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + '\n' + elements);
}

void Folder::file(const std::string& name, const std::string& content) {
  std::ofstream(path_ / name, std::ios::binary) << content;
}

std::string Folder::content(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream(path_ / name, std::ios::binary).rdbuf();
  return text.str();
}

std::map<std::string, std::string> Folder::everything() const {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    const std::string name = fs::relative(entry.path(), path_);
    found[name] = entry.is_regular_file() && access(entry.path().c_str(), R_OK) == 0 ? content(name)
                                                                                     : "no file to read";
  }
  return found;
}

pid_t Folder::start(const std::string& words, int input, int output, int errors,
                    const std::vector<std::string>& environment) const {
  std::vector<std::string> arguments{"fairlead"}, variables = environment;
  std::istringstream split(words);
  for (std::string word; split >> word;) arguments.push_back(word);
  variables.push_back("FAIRLEAD_CACHE_DIRECTORY=" + cache_directory());
  const auto pointers = [](std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (std::string& text : strings) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  };
  const auto argv = pointers(arguments), envp = pointers(variables);
  const pid_t child = fork();
  if (child != 0) return child;
  // A terminal sends its signals to the programs of one session.
  setsid();
  if (chdir(path_.c_str()) == 0 && dup2(input, 0) >= 0 && dup2(output, 1) >= 0 && dup2(errors, 2) >= 0)
    execve(FAIRLEAD_COMMAND, argv.data(), envp.data());
  _exit(126);
}

Answer Folder::run(const std::string& words, const std::vector<std::string>& environment) const {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), output = unnamed_file(),
            errors = unnamed_file();
  const auto began = std::chrono::steady_clock::now();
  const pid_t child = start(words, nothing, output, errors, environment);
  int status = 0;
  waitpid(child, &status, 0);
  Answer answer;
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  answer.output = read_all(output);
  answer.errors = read_all(errors);
  for (const int descriptor : {nothing, output, errors}) close(descriptor);
  return answer;
}

bool Folder::mount(const std::string& name, std::size_t bytes, bool read_only) {
  fs::create_directory(path_ / name);
  // In a mount namespace of this process: nothing stays mounted, however it ends.
  static const bool own =
      unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  const auto place = path_ / name;
  const std::string size = "size=" + std::to_string(bytes);
  if (!own || ::mount("tmpfs", place.c_str(), "tmpfs", read_only ? MS_RDONLY : 0, size.c_str()) != 0)
    return false;
  mounted_.push_back(place);
  return true;
}

std::string bytes_of(const std::vector<double>& elements) {
  std::string bytes(elements.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

std::string spd_elements(int n) {
  std::vector<double> elements;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) elements.push_back(i == j ? 2.0 * n : 1.0 / (1 + std::abs(i - j)));
  return bytes_of(elements);
}

void expect_refused(Folder& folder, const std::string& words, int exit_code, const std::string& named,
                    const std::vector<std::string>& environment) {
  const auto before = folder.everything();
  const Answer answer = folder.run(words, environment);
  EXPECT_EQ(answer.exit_code, exit_code);
  EXPECT_EQ(answer.output, "");
  EXPECT_THAT(answer.errors, testing::HasSubstr(named));
  // One message, maybe after the notice that the BLAS is timed: a line that begins so, and lines that are
  // indented below it.
  std::string text = answer.errors;
  if (text.starts_with("fairlead: timing the BLAS")) text.erase(0, text.find('\n') + 1);
  std::istringstream lines(text);
  std::string line;
  for (bool first = true; std::getline(lines, line); first = false)
    EXPECT_TRUE(first ? line.starts_with("fairlead: ") : line.starts_with("  ")) << answer.errors;
  EXPECT_LT(answer.seconds, tests::sanitized ? 60 : 30);
  EXPECT_EQ(folder.everything(), before) << "something was left or changed";
}

}  // namespace fairlead::misuse
