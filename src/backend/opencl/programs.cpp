// Compiles programs on demand.
#include "backend/opencl/programs.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace fairlead::backend::cl {

Programs::~Programs() {
  for (const auto& [text, program] : by_text_) device_.driver().clReleaseProgram(program);
}

Kernel Programs::make(const OpenclKernel::Text& text) {
  const std::lock_guard lock(mutex_);
  Program& program = by_text_[{text.source, text.options}];
  if (program == nullptr) program = compile(text);
  Status status = success;
  const Kernel kernel = device_.driver().clCreateKernel(program, text.name.c_str(), &status);
  if (status != success)
    throw SystemError(device_.problem(status, fmt::format("the kernel \"{}\"", text.name).c_str()));
  return kernel;
}

Program Programs::compile(const OpenclKernel::Text& text) const {
  const OpenclDriver& driver = device_.driver();
  const char* source = text.source.data();
  const std::size_t length = text.source.size();
  Status status = success;
  const Program program = driver.clCreateProgramWithSource(device_.context(), 1, &source, &length, &status);
  device_.check(status, "clCreateProgramWithSource");
  const Device device = device_.device();
  status = driver.clBuildProgram(program, 1, &device, text.options.c_str(), nullptr, nullptr);
  if (status == success) return program;
  std::string log;
  std::size_t bytes = 0;
  if (driver.clGetProgramBuildInfo(program, device, build_log, 0, nullptr, &bytes) == success && bytes > 1) {
    log.resize(bytes);
    driver.clGetProgramBuildInfo(program, device, build_log, bytes, log.data(), nullptr);
    log.resize(std::min(log.find('\0'), log.size()));
  }
  driver.clReleaseProgram(program);
  throw SystemError(fmt::format(
      "{}\n{}", device_.problem(status, fmt::format("compiling the kernel \"{}\"", text.name).c_str()),
      log.empty() ? "  The compiler printed no messages." : log));
}

}  // namespace fairlead::backend::cl
