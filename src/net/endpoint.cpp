// See endpoint.hpp.
#include "net/endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fairlead::net {

namespace {

/// For values that use a tree.
Tree tree_of(const Protocol& protocol, Bytes bytes) noexcept {
  return bytes >= protocol.chain_from ? Tree::chain : Tree::binomial;
}
Tree tree_for(const Protocol& protocol, std::size_t ranks, Bytes bytes) noexcept {
  if (protocol.tree_from == 0 || ranks < protocol.tree_from) return Tree::star;
  return tree_of(protocol, bytes);
}

void say_to(RankId to, const Message& message, EndpointCommands& out) {
  out.messages.push_back({to, bytes_of(message)});
}

void share_room(const RunRegistry& runs, Outgoing& outgoing, Incoming& incoming) {
  const std::optional<TransitLimits> room = runs.room();
  if (!room) return;
  outgoing.set_limits(*room);
  incoming.set_limits(*room);
}

}  // namespace

Endpoint::Endpoint(RankId own, std::uint32_t ranks, const Protocol& protocol)
    : own_(own),
      protocol_(protocol),
      mistake_(protocol.mistake),
      outgoing_(protocol),
      incoming_(protocol),
      along_(ranks, protocol.exchanges_credit ? EagerCredit{.is_known = false}
                                              : EagerCredit{.room = protocol.credit_bytes}),
      termination_(ranks) {}

// ---- runs

void Endpoint::begin(const GraphRun& run, std::uint64_t fingerprint, const TransitLimits& room,
                     EndpointCommands& out, bool gated) {
  runs_[run.graph] = {
      .number = run.run, .open = true, .fingerprint = fingerprint, .room = room, .gated = gated};
  moved();
  if (!gated) status_.reset();  // values of a gated run supply no tasks of a finished graph
  share_room(runs_, outgoing_, incoming_);
  for (const auto& [rank, closed] : closed_) check_closed(RankId{rank}, run, out);
  const auto found = early_messages_.find(run);
  if (found == early_messages_.end()) return;
  const auto early = std::move(found->second);
  early_messages_.erase(found);
  for (const auto& [from, activate] : early) handle(from, activate, out);
}

bool Endpoint::expect(const GraphRun& run, std::uint64_t key, EndpointCommands& out) {
  moved();
  auto announced = runs_[run.graph].gate.expect(key);
  if (announced && !runs_.is_stale(run))
    incoming_.announced(announced->first, std::move(announced->second), out);
  return announced.has_value();
}

void Endpoint::end(const GraphRun& run, EndpointCommands& out) {
  runs_[run.graph].open = false;
  if (runs_[run.graph].gated)
    // no termination detection here: the program determines which values come
    runs_[run.graph].gate.clear();
  else if (failure_.empty())
    say({.run = run, .finished = true}, out);
  std::erase_if(announced_by_, [&](const auto& entry) {
    const auto found = announcements_.find(entry.second);
    return found == announcements_.end() || found->second.to.front().activate.of == run;
  });
  std::erase_if(announcements_,
                [&](const auto& entry) { return entry.second.to.front().activate.of == run; });
  share_room(runs_, outgoing_, incoming_);  // values that waited for more memory may go on
  outgoing_.forget(run, out);
  incoming_.forget(run, out);
}

void Endpoint::close(EndpointCommands& out) {
  if (!failure_.empty()) return;  // the others are notified already
  Closed closed;
  for (const auto& [graph, run] : runs_) closed.finished.push_back({graph, run.number + !run.open});
  for (std::size_t i = 0; i < along_.size(); ++i)
    if (i != index(own_)) out.messages.push_back({RankId{static_cast<std::uint32_t>(i)}, bytes_of(closed)});
}

void Endpoint::handle(RankId from, Closed closed, EndpointCommands& out) {
  closed_[static_cast<std::uint32_t>(from)] = std::move(closed);
  for (const auto& [graph, run] : runs_)
    if (run.open) check_closed(from, {graph, run.number}, out);
}

void Endpoint::check_closed(RankId rank, const GraphRun& run, EndpointCommands& out) {
  for (const Closed::Runs& over : closed_.at(static_cast<std::uint32_t>(rank)).finished)
    if (over.graph == run.graph && over.count > run.run) return;
  fail(fmt::format("rank {} has ended, but rank {} runs a graph that needs all ranks: they do not run the "
                   "same program, "
                   "or rank {} has failed",
                   index(rank), index(own_), index(rank)),
       out);
}

// ---- termination detection

void Endpoint::report_idle(const GraphRun& run, std::uint64_t activity, std::string text,
                           EndpointCommands& out) {
  if (activity != counts_.activity || !nothing_in_flight()) return;
  if (text.empty() && is_quiescent()) return;  // the run is finished, as the caller is about to see
  if (text.empty()) text = "its tasks have finished, and other ranks have not requested their results";
  say({.run = run, .idle = true, .text = std::move(text)}, out);
}

void Endpoint::note_activity(FrontEndActivity what, EndpointCommands& out) {
  moved();
  if (what == FrontEndActivity::withholds || what == FrontEndActivity::withholds_none) {
    what == FrontEndActivity::withholds ? ++counts_.kept_back_for : --counts_.kept_back_for;
    return;
  }
  ++(what == FrontEndActivity::note_sent ? counts_.notes_sent : counts_.received);
  if (status_ && failure_.empty()) say(*status_, out);  // as after a message
}

void Endpoint::say(Status status, EndpointCommands& out) {
  status.sequence = ++counts_.statuses_sent;
  status.sent = traffic_.messages() + counts_.notes_sent;
  status.received = counts_.received;
  status_ = status;
  own_ == RankId{0} ? handle(own_, status, out) : say_to(RankId{0}, status, out);
}

void Endpoint::handle(RankId from, const Status& status, EndpointCommands& out) {
  if (termination_.add_report(from, status)) {
    for (std::uint32_t i = 1; i < along_.size(); ++i)
      say_to(RankId{i}, StatusRequest{termination_.round()}, out);
    handle(own_, StatusRequest{termination_.round()}, out);
  } else if (const auto stopped = termination_.deadlock_text()) {
    fail(*stopped, out);
  }
}

void Endpoint::handle(RankId, const StatusRequest& ask, EndpointCommands& out) {
  Status status = status_.value_or(Status{});
  status.round = ask.round;
  status.sent = traffic_.messages() + counts_.notes_sent;
  status.received = counts_.received;
  own_ == RankId{0} ? handle(own_, status, out) : say_to(RankId{0}, status, out);
}

// ---- outgoing values

void Endpoint::task_finished(const GraphRun& run, std::uint64_t task, std::span<const Output> outputs,
                             EndpointCommands& out) {
  moved();
  const RunRegistry::Run& of = runs_[run.graph];
  std::vector<AnnouncedOutput> announced;
  for (const Output& output : outputs) {
    const Tree tree = tree_for(protocol_, output.to.size(), output.bytes);
    announced.push_back(
        {output.number,
         output.datum_type,
         output.value,
         {output.bytes, std::max(output.memory_bytes, output.bytes), output.layout},
         branches(tree == Tree::star || of.gated ? output.to : rotated(output.to, task), tree)});
  }
  announce(run, task, of.fingerprint, announced, nullptr, out);
}

/// Sends one message to each rank that gets an output from this rank. `of_outputs`: the ids of the values.
void Endpoint::announce(const GraphRun& run, std::uint64_t task, std::uint64_t fingerprint,
                        std::span<const AnnouncedOutput> outputs, std::vector<OutgoingId>* of_outputs,
                        EndpointCommands& out) {
  Announcement announcement;
  const std::uint64_t number = next_announcement_++;
  for (const AnnouncedOutput& output : outputs) {
    if (output.to.empty()) continue;
    std::vector<RankId> readers;  // ranks that are offered the value
    for (const MulticastBranch& branch : output.to)
      if (output.sizes.layout.whole() && outgoing_.can_offer(output.sizes.bytes, branch.to))
        readers.push_back(branch.to);
    for (const MulticastBranch& branch : output.to) {
      auto to = std::ranges::find(announcement.to, branch.to, &Announcement::To::rank);
      if (to == announcement.to.end())
        to = announcement.to.insert(to, {branch.to, {run, task, fingerprint, {}}});
      to->activate.outputs.push_back({.number = output.number,
                                      .datum_type = output.like,
                                      .bytes = output.sizes.bytes,
                                      .memory_bytes = output.sizes.takes,
                                      .forward_to = branch.below,
                                      .offered = std::ranges::count(readers, branch.to) != 0});
    }
    const Bytes bytes = output.sizes.bytes;
    if (bytes == 0) continue;
    const bool eager = bytes <= protocol_.eager_bytes;
    const OutgoingId id =
        outgoing_.add({run, task, output.number}, output.value, output.sizes, output.to.size(), eager, out);
    if (of_outputs != nullptr) of_outputs->push_back(id);
    if (!readers.empty()) outgoing_.offer(id, std::move(readers), out);
    if (!eager) continue;
    announced_by_[id] = number;
    announcement.read.push_back({output.number, id, std::vector<std::byte>(bytes), output.sizes.layout});
    ++announcement.unread;
  }
  if (announcement.to.empty()) return;
  if (announcement.unread == 0) return send(announcement, out);
  announcements_.emplace(number, std::move(announcement));
}

void Endpoint::send(Announcement& announcement, EndpointCommands& out) {
  for (Announcement::To& to : announcement.to) {
    for (Activate::Output& output : to.activate.outputs) {
      const auto read = std::ranges::find(announcement.read, output.number, &Announcement::Read::output);
      if (read == announcement.read.end()) continue;
      Bytes& room = along_[index(to.rank)].room;
      // the receiver will request it
      if (output.bytes > room && !mistake_.is(ProtocolMistake::credit_not_counted)) continue;
      room -= std::min(room, output.bytes);
      output.value = read->bytes;
      outgoing_.sent_eagerly(read->id);
      ++traffic_.eager;
      traffic_.eager_bytes += output.bytes;
    }
    say_to(to.rank, to.activate, out);
    ++traffic_.activates;
  }
  for (const Announcement::Read& read : announcement.read) outgoing_.announced(read.id, out);
}

/// Eager values are copied as soon as they are readable, and then released. If they had to stay until all values of
/// their task are readable, two tasks could wait for each other.
void Endpoint::readable(OutgoingId id, const void* address, EndpointCommands& out) {
  moved();
  if (!outgoing_.readable(id, address, traffic_, out)) return;
  const auto found = announced_by_.find(id);
  if (found == announced_by_.end()) return;
  const std::uint64_t number = found->second;
  announced_by_.erase(found);
  Announcement& announcement = announcements_.at(number);
  const auto read = std::ranges::find(announcement.read, id, &Announcement::Read::id);
  read->layout.gather(address, read->bytes.data(), read->bytes.size());
  outgoing_.read_for_messages(id, out);
  --announcement.unread;
  send_if_it_can_go(number, out);
}

/// Each rank states its limit of eager values on its own, whatever its program does: so this wait ends.
void Endpoint::send_if_it_can_go(std::uint64_t number, EndpointCommands& out) {
  const auto found = announcements_.find(number);
  if (found->second.unread != 0 || std::ranges::any_of(found->second.to, [&](const Announcement::To& to) {
        return !along_[index(to.rank)].is_known;
      }))
    return;
  send(found->second, out);
  announcements_.erase(found);
}

void Endpoint::left(PayloadId payload, EndpointCommands& out) {
  moved();
  outgoing_.left(payload, traffic_, out);
}

// ---- incoming values

void Endpoint::handle(RankId from, Activate activate, EndpointCommands& out) {
  if (runs_.is_stale(activate.of)) return;
  if (!runs_.has_begun(activate.of)) {
    if (!mistake_.is(ProtocolMistake::early_message_lost))
      early_messages_[activate.of].emplace_back(from, std::move(activate));
    return;
  }
  RunRegistry::Run& run = runs_[activate.of.graph];
  if (activate.fingerprint != run.fingerprint)
    return fail(
        fmt::format("ranks {} and {} do not run the same program: graph {} differs in its tasks, data or "
                    "owners",
                    index(own_), index(from), activate.of.graph),
        out);
  if (run.gated && !run.gate.lets_in(from, activate)) return;
  // Completions without a value first.
  std::vector<Activate::Output> values;
  for (std::size_t i = 0; i < activate.outputs.size(); ++i) {
    Activate::Output& output = activate.outputs[i];
    if (output.bytes != 0) {
      values.push_back(std::move(output));
      continue;
    }
    out.landed.push_back({.name = activate.name(i), .control = true});
    pass_on(activate.name(i), output.datum_type, 0, {}, output.forward_to, out);
  }
  if (values.empty()) return;
  activate.outputs = std::move(values);
  incoming_.announced(from, std::move(activate), out);
}

std::optional<OutgoingId> Endpoint::pass_on(const ValueName& name, std::uint32_t like, std::uint64_t value,
                                            const Outgoing::Sizes& sizes, const std::vector<RankId>& below,
                                            EndpointCommands& out) {
  if (below.empty() || mistake_.is(ProtocolMistake::branch_forgotten)) return std::nullopt;
  const AnnouncedOutput announced{name.output, like, value, sizes,
                                  branches(below, tree_of(protocol_, sizes.bytes))};
  std::vector<OutgoingId> ids;
  announce(name.of, name.task, runs_.at(name.of.graph).fingerprint, {&announced, 1}, &ids, out);
  if (ids.empty()) return std::nullopt;
  return ids.front();
}

void Endpoint::placed(IncomingId id, std::uint64_t value, const ValueMemory& spot, EndpointCommands& out) {
  moved();
  std::vector<Incoming::Arrived> there;
  incoming_.placed(id, value, spot, there, traffic_, out);
  process_arrivals(there, out);
}

void Endpoint::landed(PayloadId payload, EndpointCommands& out) {
  moved();
  std::vector<Incoming::Arrived> there;
  incoming_.landed(payload, there, traffic_, out);
  process_arrivals(there, out);
}

void Endpoint::copied(PayloadId payload, bool good, EndpointCommands& out) {
  moved();
  std::vector<Incoming::Arrived> there;
  incoming_.copied(payload, good, there, traffic_, out);
  process_arrivals(there, out);
}

/// Processes values that have arrived.
void Endpoint::process_arrivals(std::vector<Incoming::Arrived>& there, EndpointCommands& out) {
  for (Incoming::Arrived& it : there) {
    EndpointCommands::Arrived landed{.name = it.name, .value = it.value};
    landed.passed_on = pass_on(it.name, it.like, it.value, {it.bytes, it.takes, it.layout}, it.below, out)
                           .value_or(no_outgoing);
    out.landed.push_back(landed);
    if (it.went_along == 0 || mistake_.is(ProtocolMistake::credit_not_given_back)) continue;
    // Not for each value: one half of the credit still has space for any eager value.
    Bytes& owed = along_[index(it.from)].owed;
    owed += it.went_along;
    if (2 * owed < protocol_.credit_bytes) continue;
    say_to(it.from, Credit{std::exchange(owed, 0)}, out);
    ++traffic_.credits;
  }
}

// ---- messages

void Endpoint::message(RankId from, std::span<const std::byte> bytes, EndpointCommands& out) {
  if (index(from) >= along_.size())
    return fail(fmt::format("received a message from rank {}, which does not exist", index(from)), out);
  std::optional<Message> message = message_of(bytes);
  if (!message)
    return fail(
        fmt::format(
            "a message from rank {} is invalid for rank {}: do both run the same version of Fairlead?",
            index(from), index(own_)),
        out);
  const bool of_values = is_of_values(*message);
  if (of_values) {
    moved();
    ++counts_.received;
  }
  std::visit([&](auto& it) { handle(from, std::move(it), out); }, *message);
  if (of_values && status_ && failure_.empty())
    say(*status_, out);  // the run is finished here, but the counts have changed
}

void Endpoint::handle(RankId from, const Request& request, EndpointCommands& out) {
  if (runs_.is_stale(request.of)) return;
  std::uint64_t tag = request.first_tag;
  for (std::uint8_t output = 0; output < most_outputs; ++output) {
    if ((request.outputs >> output & 1) == 0) continue;
    const ValueName name{request.of, request.task, output};
    if (!outgoing_.knows(name))
      return fail(fmt::format("rank {} asked rank {} for a value that was not announced to it", index(from),
                              index(own_)),
                  out);
    if (!mistake_.is(ProtocolMistake::request_ignored) || request.task % 7 != 0)
      outgoing_.requested(name, from, tag, traffic_, out);
    ++tag;
  }
}

void Endpoint::handle(RankId from, const Credit& credit, EndpointCommands&) {
  along_[index(from)].room += credit.bytes;
}

void Endpoint::handle(RankId from, const Allowance& allowance, EndpointCommands& out) {
  moved();
  along_[index(from)].room = allowance.takes_along;
  along_[index(from)].is_known = true;
  std::vector<std::uint64_t> waiting;
  for (const auto& [number, announcement] : announcements_) waiting.push_back(number);
  std::ranges::sort(waiting);
  for (const std::uint64_t number : waiting) send_if_it_can_go(number, out);
}

void Endpoint::handle(RankId from, const Offer& offer, EndpointCommands& out) {
  if (!runs_.is_stale(offer.name.of)) incoming_.offered(from, offer, traffic_, out);
}
void Endpoint::handle(RankId from, const ReadAcknowledged& taken, EndpointCommands& out) {
  outgoing_.taken(taken.name, from, traffic_, out);
}

void Endpoint::handle(RankId, const Failed& failed, EndpointCommands& out) {
  if (!failure_.empty()) return;
  out.failure = failure_ = fmt::format("rank {}: {}", index(failed.rank), failed.text);
}

void Endpoint::fail(std::string text, EndpointCommands& out) {
  if (!failure_.empty()) return;
  if (!mistake_.is(ProtocolMistake::failure_kept))
    for (std::size_t i = 0; i < along_.size(); ++i)
      if (i != index(own_))
        out.messages.push_back({RankId{static_cast<std::uint32_t>(i)}, bytes_of(Failed{own_, text})});
  out.failure = failure_ = std::move(text);
}

}  // namespace fairlead::net
