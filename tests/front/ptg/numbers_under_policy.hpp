// Integers in a runtime with two workers and a scheduling policy, for tests of errors of graphs.
#pragma once
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <memory>
#include <string>
#include <vector>

namespace fairlead::tests {

/// The parameter is the policy.
class NumbersUnderPolicy : public testing::TestWithParam<const char*> {
 protected:
  NumbersUnderPolicy() {
    Config config;
    config.set("workers", 2);
    config.set("memory", "1MiB");
    config.set("scheduler", std::string(GetParam()));
    config.set("bind-threads", false);
    runtime = std::make_unique<Runtime>(config);
    for (int& number : numbers) handles.push_back(runtime->value("number", number));
  }

  std::vector<int> numbers = std::vector<int>(20);
  std::unique_ptr<Runtime> runtime;
  std::vector<Handle<int>> handles;
  const ptg::Index i{"i"};
  const Codelet<InOut<int>> add = codelet("add").cpu([](InOut<int> x) { ++*x; });
  const Codelet<In<int>, InOut<int>> take = codelet("take").cpu([](In<int> a, InOut<int> x) { *x += *a; });
};

}  // namespace fairlead::tests
