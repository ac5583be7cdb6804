// See rank_world.hpp.
#include "simulate/cluster/rank_world.hpp"

#include <fairlead/error.hpp>

#include <utility>

namespace fairlead::simulate {

namespace {
constexpr std::size_t most_nodes = 64;
}

RankWorld::RankWorld(backend::SimOptions options, RankScheduler& turns, std::size_t program, Bytes most_read)
    : turns_(turns),
      program_(program),
      world_(std::move(options)),
      number_(turns.timeline().join(*this)),
      address_base_(most_read + most_nodes) {}

void RankWorld::activate(engine::Engine& engine, graph::DependencyGraph& graph,
                         engine::EngineClient& application) {
  engine_ = &engine;
  application_ = &application;
  world_.activate(engine, graph, application);
}

void RankWorld::wait(const std::function<bool()>& done) {
  application_->serve();
  const auto over = [&] { return done() || (stopped_ && engine_->fatal() != nullptr); };
  try {
    turns_.wait(program_, over);
  } catch (const Error& error) {
    const auto name = [](DatumId id) { return "datum " + std::to_string(index(id)); };
    const auto in_body = [this](WorkerId id) { return world_.in_body(id); };
    throw Error(std::string(error.what()) + "\n" +
                engine_->situation({.datum = name, .in_body = in_body, .now = now()}).text());
  }
}

void RankWorld::wake(engine::WakeTarget who) noexcept {
  using Kind = engine::WakeTarget::Kind;
  world_.wake(who);
  stopped_ |= who.kind == Kind::all;
  if (who.kind == Kind::application || who.kind == Kind::all) turns_.notify(program_);
  if (who.kind != Kind::application) serve_soon();
}

void RankWorld::serve_soon() noexcept {
  if (std::exchange(to_serve_, true)) return;
  turns_.timeline().changed(number_);
}

bool RankWorld::step() {
  to_serve_ = false;
  application_->ask_for_more();
  application_->serve();
  return true;
}

}  // namespace fairlead::simulate
