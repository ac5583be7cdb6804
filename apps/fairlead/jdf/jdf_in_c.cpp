// See jdf_in_c.hpp.
#include "fairlead/jdf/jdf_in_c.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "config/environment.hpp"
#include "fairlead/run/interrupt.hpp"

namespace fairlead::app {

namespace {

/// A compiler whose files are removed if a signal ends the process.
class Compiling {
 public:
  Compiling() {
    Interrupt::removes_at_exit([this] {
      const std::lock_guard lock(mutex_);
      compiler_.emplace(config::c_compiler(config::process_environment()));
      return compiler_->temporaries();
    });
  }
  Compiling(const Compiling&) = delete;
  Compiling& operator=(const Compiling&) = delete;
  ~Compiling() {
    const std::lock_guard lock(mutex_);
    compiler_.reset();
  }
  jdf::CCompiler& compiler() noexcept { return *compiler_; }

 private:
  std::mutex mutex_;  // a signal stops the compiler if it is there; of `compiler_`
  std::optional<jdf::CCompiler> compiler_;
  const Interrupt interrupt_{[this] {
    const std::lock_guard lock(mutex_);
    if (compiler_) compiler_->stop();
  }};
};

void throw_if_interrupted() {
  if (const int signal = Interrupt::signal(); signal != 0) throw Interrupted{signal};
}

std::shared_ptr<jdf::CLibrary> built(const jdf::JdfFile& file, const std::vector<bool>& with_bodies,
                                     const std::vector<std::string>& libraries) {
  std::shared_ptr<jdf::CLibrary> library;
  {
    Compiling compiling;
    throw_if_interrupted();  // an earlier signal had no compiler to stop
    library = jdf::CLibrary::build(file, with_bodies, libraries, compiling.compiler());
  }
  throw_if_interrupted();
  return library;
}

}  // namespace

void allow_c(const jdf::JdfFile& file, jdf::Settings& settings, const Config& config) {
  if (!config.flag("allow-c") || file.c_leaves.empty()) return;
  const auto library = built(file, std::vector<bool>(file.classes.size()), {});
  settings.use(library);
  library->set_globals(settings);
}

std::shared_ptr<jdf::CLibrary> allow_c_bodies(jdf::RunnableJdf& program,
                                              const std::vector<std::string>& libraries) {
  std::vector<bool> with_bodies;
  for (const jdf::InterpretedBody& body : program.bodies) with_bodies.push_back(body.is_c);
  if (program.file.c_leaves.empty() && std::ranges::find(with_bodies, true) == with_bodies.end())
    return nullptr;
  auto library = built(program.file, with_bodies, libraries);
  static_assert(sizeof(std::atomic<std::int32_t>) == sizeof(int) &&
                std::atomic<std::int32_t>::is_always_lock_free);
  for (std::uint32_t i = 0; i < program.pointed.size(); ++i) library->set_pointer(i, &program.pointed[i]);
  program.settings.use(library);
  library->set_globals(program.settings);
  library->require_bodies();
  return library;
}

}  // namespace fairlead::app
