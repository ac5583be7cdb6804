// What Fairlead throws. Every error derives from `Error`; its text says what is wrong, where, and what to do
// about it, so that printing what() is enough.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace fairlead {

/// The base of everything that Fairlead throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A setting is unknown, of the wrong type or out of range.
class ConfigError : public Error {
 public:
  using Error::Error;
};

/// The program uses the interface in a way that cannot work: a datum of another runtime, wait() inside a
/// body, ...
class UsageError : public Error {
 public:
  using Error::Error;
};

/// An input file cannot be used: missing, truncated, of another type or shape.
class InputError : public Error {
 public:
  using Error::Error;
};

/// A file or the system refuses: no space, no permission, a device error.
class SystemError : public Error {
 public:
  using Error::Error;
};

/// An accelerator is lost, and with it what is asked for: its newest value was nowhere else.
class DeviceLostError : public SystemError {
 public:
  using SystemError::SystemError;
};

/// A task, or what was registered, needs more of a memory node than it can ever give.
class FootprintError : public Error {
 public:
  using Error::Error;
};

/// The numbers do not allow the computation: not positive definite, not finite, not symmetric.
class NumericalError : public Error {
 public:
  using Error::Error;
};

/// A task failed; the cause's text is part of what().
class TaskError : public Error {
 public:
  using Error::Error;
};

/// Something failed on another rank, which throws its cause; what() has its text.
class RankError : public TaskError {
 public:
  using TaskError::TaskError;
};

}  // namespace fairlead
