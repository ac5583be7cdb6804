// The exceptions that Fairlead throws. All derive from `Error`. The text states what is wrong, where, and how to
// correct it, so printing what() is enough.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace fairlead {

/// The base class of all exceptions of Fairlead.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A setting is unknown, of the wrong type or out of range.
class ConfigError : public Error {
 public:
  using Error::Error;
};

/// The program uses the interface incorrectly: it passes a datum of another runtime, calls wait() inside a body, ...
class UsageError : public Error {
 public:
  using Error::Error;
};

/// An input file cannot be used: it is missing, truncated, or of the wrong type or shape.
class InputError : public Error {
 public:
  using Error::Error;
};

/// The operating system or a device reports an error: no space, no permission, an I/O error.
class SystemError : public Error {
 public:
  using Error::Error;
};

/// An accelerator is lost, and the only copy of the newest value was in its memory.
class DeviceLostError : public SystemError {
 public:
  using SystemError::SystemError;
};

/// A task or a registration needs more of a memory node than the node can ever provide.
class FootprintError : public Error {
 public:
  using Error::Error;
};

/// The input is numerically unsuitable: not positive definite, not symmetric, or not finite.
class NumericalError : public Error {
 public:
  using Error::Error;
};

/// A task failed. what() includes the text of the cause.
class TaskError : public Error {
 public:
  using Error::Error;
};

/// The run was stopped after a checkpoint, as requested; the same program resumes it.
class CheckpointStop : public Error {
 public:
  using Error::Error;
};

/// A failure on another rank. The rank that failed throws the cause; what() has its text.
class RankError : public TaskError {
 public:
  using TaskError::TaskError;
};

}  // namespace fairlead
