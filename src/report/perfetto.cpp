// Writes Perfetto traces. This is the only source file that includes protozero.
#include "report/perfetto.hpp"

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "memory/replica.hpp"
#include "report/lanes.hpp"
#include "report/report_file.hpp"

namespace fairlead::report {

namespace {

using protozero::pbf_writer;

// Field numbers.
enum Trace : protozero::pbf_tag_type { packet = 1 };
enum TracePacket : protozero::pbf_tag_type {
  timestamp = 8,
  trusted_packet_sequence_id = 10,
  track_event = 11,
  track_descriptor = 60
};
enum TrackDescriptor : protozero::pbf_tag_type {
  uuid = 1,
  name = 2,
  process = 3,
  thread = 4,
  parent_uuid = 5,
  counter = 8
};
enum ProcessDescriptor : protozero::pbf_tag_type { process_pid = 1, process_name = 6 };
enum ThreadDescriptor : protozero::pbf_tag_type { thread_pid = 1, thread_tid = 2, thread_name = 5 };
enum CounterDescriptor : protozero::pbf_tag_type { counter_unit = 3 };
enum TrackEvent : protozero::pbf_tag_type {
  debug_annotations = 4,
  event_type = 9,
  track_uuid = 11,
  categories = 22,
  event_name = 23,
  counter_value = 30,
  flow_ids = 47
};
enum DebugAnnotation : protozero::pbf_tag_type { uint_value = 3, string_value = 6, annotation_name = 10 };

// Values.
constexpr std::int32_t slice_begin = 1, slice_end = 2, instant = 3, counter_event = 4;
constexpr std::int32_t unit_size_bytes = 3;
constexpr std::uint32_t sequence = 1;

using Track = std::uint64_t;

class Writer {
 public:
  /// `tracks`: the number of tracks that exist already.
  Writer(const trace::Snapshot& snapshot, std::int32_t number, Time zero, Track tracks,
         const std::function<void(std::string_view)>& out)
      : snapshot_(snapshot), pid_(number), zero_(zero), out_(out), tracks_(tracks) {}
  Track tracks() const noexcept { return tracks_; }

  void all() {
    describe([&](pbf_writer& descriptor) {
      pbf_writer process_descriptor(descriptor, process);
      process_descriptor.add_int32(process_pid, pid_);
      process_descriptor.add_string(process_name, snapshot_.process);
    });
    run_ = tracks_;
    phases();
    workers();
    links();
    transfers();
    memory();
    if (const std::string missing = trace::dropped_text(snapshot_); !missing.empty())
      event(child("not complete"), snapshot_.begin(), instant, missing);
  }

 private:
  /// Creates a track; `fill` completes its descriptor.
  template <class Fill>
  Track describe(Fill&& fill) {
    write([&](pbf_writer& one) {
      pbf_writer descriptor(one, track_descriptor);
      descriptor.add_uint64(uuid, ++tracks_);
      fill(descriptor);
    });
    return tracks_;
  }
  Track child(const std::string& of_name, bool is_counter = false) {
    return describe([&](pbf_writer& descriptor) {
      descriptor.add_string(name, of_name);
      descriptor.add_uint64(parent_uuid, run_);
      if (!is_counter) return;
      pbf_writer counter_descriptor(descriptor, counter);
      counter_descriptor.add_enum(counter_unit, unit_size_bytes);
    });
  }
  void event(Track track, Time at, std::int32_t type, std::string_view of_name = {},
             std::string_view category = {}, const std::function<void(pbf_writer&)>& annotate = nullptr) {
    write([&](pbf_writer& one) {
      one.add_uint64(timestamp, static_cast<std::uint64_t>((at - zero_).count()));
      one.add_uint32(trusted_packet_sequence_id, sequence);
      pbf_writer message(one, track_event);
      message.add_enum(event_type, type);
      message.add_uint64(track_uuid, track);
      if (!category.empty()) message.add_string(categories, category.data(), category.size());
      if (!of_name.empty()) message.add_string(event_name, of_name.data(), of_name.size());
      if (annotate) annotate(message);
    });
  }
  void slice(Track track, Time begin, Time end, std::string_view of_name, std::string_view category,
             const std::function<void(pbf_writer&)>& annotate = nullptr) {
    event(track, begin, slice_begin, of_name, category, annotate);
    event(track, end, slice_end);
  }
  static void annotate_text(pbf_writer& message, const char* key, const std::string& value) {
    pbf_writer annotation(message, debug_annotations);
    annotation.add_string(annotation_name, key);
    annotation.add_string(string_value, value);
  }
  static void annotate_number(pbf_writer& message, const char* key, std::uint64_t value) {
    pbf_writer annotation(message, debug_annotations);
    annotation.add_string(annotation_name, key);
    annotation.add_uint64(uint_value, value);
  }
  template <class Fill>
  void write(Fill&& fill) {
    text_.clear();
    {
      pbf_writer trace(text_);
      pbf_writer one(trace, packet);
      fill(one);
    }
    out_(text_);
  }

  void phases() {
    if (snapshot_.phases.empty()) return;
    const Track track = child("phases");
    for (const trace::Phase& phase : snapshot_.phases)
      slice(track, phase.start, phase.end, phase.name, "phase");
  }

  void workers() {
    struct Rows {
      Lanes lanes;
      std::vector<Track> tracks;
    };
    std::vector<Rows> rows(snapshot_.workers.size());
    const auto track_of = [&](WorkerId worker, Time begin, Time end) {
      Rows& row = rows[index(worker)];
      const std::size_t lane = row.lanes.place(begin, end);
      while (row.tracks.size() <= lane)
        row.tracks.push_back(child(snapshot_.workers[index(worker)] + ", asynchronous"));
      return row.tracks[lane];
    };
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i].tracks.push_back(worker_track(static_cast<WorkerId>(i)));
    for (const trace::TaskRecord& task : snapshot_.tasks)
      slice(track_of(task.worker, task.start(), task.end()), task.start(), task.end(),
            snapshot_.codelets[task.codelet], "task", [&](pbf_writer& message) {
              annotate_text(message, "data", trace::data_text(snapshot_, task));
              if (task.shares_time())
                annotate_text(message, "time", "an even share of the time of consecutive tasks");
              if (task.failed()) annotate_text(message, "ended", "it failed");
            });
    for (const trace::WaitRecord& wait : snapshot_.waits)
      slice(rows[index(wait.worker)].tracks.front(), wait.start, wait.end(),
            wait.reason == trace::WaitRecord::For::data ? "waiting for data" : "waiting for tasks", "wait");
  }
  Track worker_track(WorkerId worker) {
    return describe([&](pbf_writer& descriptor) {
      descriptor.add_uint64(parent_uuid, run_);
      pbf_writer thread_descriptor(descriptor, thread);
      thread_descriptor.add_int32(thread_pid, pid_);
      thread_descriptor.add_int32(thread_tid,
                                  static_cast<std::int32_t>(index(worker)) + 2);  // 1: the process
      thread_descriptor.add_string(thread_name, snapshot_.workers[index(worker)]);
    });
  }

  /// Overlapping copies have separate tracks; the viewer groups tracks of one name.
  void links() {
    std::map<std::pair<LinkId, bool>, std::pair<Lanes, std::vector<Track>>> directions;
    for (const trace::CopyRecord& copy : snapshot_.copies) {
      auto& [lanes, tracks] = directions[{copy.link, !copy.away_from_home}];
      const std::size_t lane = lanes.place(copy.start, copy.end());
      while (tracks.size() <= lane) tracks.push_back(child(trace::direction_text(snapshot_, copy)));
      const std::string_view cause = name_of(static_cast<memory::Cause>(copy.cause));
      slice(tracks[lane], copy.start, copy.end(),
            fmt::format("{} {}", cause, snapshot_.data[index(copy.datum)].name), "copy",
            [&](pbf_writer& message) {
              annotate_text(message, "cause", std::string(cause));
              annotate_number(message, "bytes", copy.bytes);
              if (!trace::is_whole_way(snapshot_, copy))
                annotate_text(
                    message, "in flight",
                    snapshot_.nodes[index(copy.from)].name + " to " + snapshot_.nodes[index(copy.to)].name);
              if (copy.failed) annotate_text(message, "ended", "it failed");
            });
    }
  }

  /// Values that arrive from other ranks, by rank, and values that are sent.
  void transfers() {
    std::map<std::pair<bool, std::uint32_t>, std::pair<Lanes, std::vector<Track>>> peers;
    std::vector<const trace::TransferRecord*> by_start;
    for (const trace::TransferRecord& one : snapshot_.transfers) by_start.push_back(&one);
    std::ranges::stable_sort(by_start, {}, &trace::TransferRecord::start);
    for (const trace::TransferRecord* const one : by_start) {
      const std::string of = one->comes ? fmt::format("from rank {}", one->peer) : "to other ranks";
      auto& [lanes, tracks] = peers[{one->comes, one->peer}];
      const std::size_t lane = lanes.place(one->start, one->end());
      while (tracks.size() <= lane) tracks.push_back(child("values " + of));
      slice(tracks[lane], one->start, one->end(), of, "value", [&](pbf_writer& message) {
        if (one->comes) annotate_number(message, "bytes", one->bytes);
        message.add_fixed64(flow_ids, one->value);
      });
    }
  }

  void memory() {
    struct Use {
      const char* what;
      Bytes trace::MemoryRecord::*bytes;
    };
    constexpr Use uses[] = {{"by tasks", &trace::MemoryRecord::by_tasks},
                            {"prefetched", &trace::MemoryRecord::prefetched},
                            {"leaving", &trace::MemoryRecord::leaving},
                            {"cached", &trace::MemoryRecord::cached}};
    std::map<NodeId, std::vector<Track>> tracks;
    for (const trace::MemoryRecord& record : snapshot_.memory) {
      std::vector<Track>& of_node = tracks[record.node];
      if (of_node.empty())
        for (const Use& use : uses)
          of_node.push_back(
              child(fmt::format("{}: {}", snapshot_.nodes[index(record.node)].name, use.what), true));
      for (std::size_t i = 0; i < std::size(uses); ++i)
        event(of_node[i], record.at, counter_event, {}, {}, [&](pbf_writer& message) {
          message.add_int64(counter_value, static_cast<std::int64_t>(record.*uses[i].bytes));
        });
    }
  }

  const trace::Snapshot& snapshot_;
  const std::int32_t pid_;
  const Time zero_;
  const std::function<void(std::string_view)>& out_;
  std::string text_;
  Track tracks_, run_ = 0;
};

}  // namespace

void write_perfetto(std::span<const trace::Snapshot> ranks,
                    const std::function<void(std::string_view)>& out) {
  Track tracks = 0;
  Time zero{};  // another rank may have started before rank 0
  for (const trace::Snapshot& one : ranks) zero = std::min(zero, one.begin());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    Writer writer(ranks[i], static_cast<std::int32_t>(i) + 1, zero, tracks, out);
    writer.all();
    tracks = writer.tracks();
  }
}

void write_trace(const std::string& path, const trace::Snapshot& recorded) {
  ReportFile file(path);
  write_perfetto({&recorded, 1}, [&file](std::string_view text) { file.append(text); });
  file.commit();
}

}  // namespace fairlead::report
