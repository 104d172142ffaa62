//===- trace.cpp - a recorded step for Perfetto ---------------------------===//

#include "trace.h"

#include "runtime/support/json_writer.h"

#include <algorithm>
#include <array>

using namespace zero::rt;

namespace zero::run {

static const zero_rt_recorded_step &lastOf(const zero_rt_recording &recording) {
  return recording.steps[recording.step_count - 1];
}

namespace {
/// That of the step, and behind it one for each lane.
enum Track { Step, Compute, Collective, kTracks = 1 + ZERO_RT_LANES };

Track trackOf(const zero_rt_command_info &command) {
  return command.kind >= ZERO_RT_ALL_GATHER ? Collective : Track(Compute + int(command.lane));
}

/// The tracks of a rank, or those of its plan.
struct Tracks {
  int rank;
  bool arePlanned;

  /// Among those of the rank: the plan above what came of it.
  int orderOf(Track track) const { return 2 * track + !arePlanned; }
  /// "pid" and "tid". Readers interpret 0 as the idle process, and need numbers that no two threads
  /// share.
  void writePlace(JsonWriter &json, Track track) const {
    json.member("pid", rank + 1);
    json.member("tid", rank * 2 * kTracks + orderOf(track) + 1);
  }
};

class Writer {
public:
  Writer(const std::vector<zero_rt_command_info> &commands, OutputFile &file)
      : commands(commands), file(file) {
    for (const zero_rt_command_info &command : commands)
      isUsed[trackOf(command)] = true;
  }

  void begin() {
    json.begin('{');
    json.member("displayTimeUnit", "ms");
    json.key("traceEvents").begin('[', JsonWriter::Lines);
  }
  /// The process of `rank`.
  void addRank(int rank);
  void addTracks(const Tracks &tracks);
  /// The last step of `recording`, whose times are `later` nanoseconds too small.
  Status addStep(const Tracks &tracks, const zero_rt_recording &recording, double later);
  Status end() {
    json.end();
    json.end();
    ZERO_RT_TRY(flush());
    return file.write("\n");
  }

private:
  template <typename Value>
  void addProperty(const char *what, const Tracks &tracks, Track track, const char *name,
                   const Value &value);
  void addTrack(const Tracks &tracks, Track track, const char *name);
  template <typename Arguments>
  void addSlice(const std::string &name, const Tracks &tracks, Track track, double begin,
                uint64_t took, Arguments arguments);
  void writeArguments(const zero_rt_event &event);
  Status flush() { return file.write(json.take()); }

  const std::vector<zero_rt_command_info> &commands;
  OutputFile &file;
  std::array<bool, kTracks> isUsed{true, true, true};
  JsonWriter json{JsonWriter::Compact};
};
} // namespace

/// `what` is "process_name" or another that Chrome's format knows.
template <typename Value>
void Writer::addProperty(const char *what, const Tracks &tracks, Track track, const char *name,
                         const Value &value) {
  json.object([&] {
    json.member("ph", "M");
    json.member("name", what);
    tracks.writePlace(json, track);
    json.key("args").object([&] { json.member(name, value); });
  });
}

void Writer::addTrack(const Tracks &tracks, Track track, const char *name) {
  addProperty("thread_name", tracks, track, "name",
              std::string(tracks.arePlanned ? "planned: " : "") + name);
  addProperty("thread_sort_index", tracks, track, "sort_index", tracks.orderOf(track));
}

/// Times, in nanoseconds, become microseconds.
template <typename Arguments>
void Writer::addSlice(const std::string &name, const Tracks &tracks, Track track, double begin,
                      uint64_t took, Arguments arguments) {
  json.object([&] {
    json.member("ph", "X");
    json.member("name", name);
    tracks.writePlace(json, track);
    json.key("ts").fixed(begin * 1e-3, 3);
    json.key("dur").fixed(double(took) * 1e-3, 3);
    json.key("args").object(arguments);
  });
}

void Writer::writeArguments(const zero_rt_event &event) {
  const zero_rt_command_info &command = commands[event.command];
  const uint64_t active = event.end - event.begin - event.waited;
  json.member("kernel", command.name);
  if (command.axis)
    json.member("axis", command.axis);
  json.member("micro_batch", event.micro_batch);
  json.member("bytes", command.bytes);
  json.member("flops", command.flops);
  auto addRate = [&](const char *unit, uint64_t amount) { // in a nanosecond
    if (amount > 0 && active > 0)
      json.key(unit).fixed(double(amount) / double(active), 3);
  };
  addRate("GB/s", command.bytes);
  addRate("GFLOP/s", command.flops);
  if (command.kind >= ZERO_RT_ALL_GATHER)
    json.key("waiting us").fixed(double(event.waited) * 1e-3, 3);
  if (command.recomputed)
    json.member("recomputed", true);
}

void Writer::addRank(int rank) {
  const Tracks tracks{rank, false};
  addProperty("process_name", tracks, Step, "name", format("rank %d", rank));
  addProperty("process_sort_index", tracks, Step, "sort_index", rank);
}

void Writer::addTracks(const Tracks &tracks) {
  addTrack(tracks, Step, "step");
  for (int track = Compute; track < kTracks; ++track)
    if (isUsed[size_t(track)])
      addTrack(tracks, Track(track), zero_rt_lane_name(zero_rt_lane(track - Compute)));
}

Status Writer::addStep(const Tracks &tracks, const zero_rt_recording &recording, double later) {
  constexpr size_t kBuffer = size_t(1) << 20;
  const zero_rt_recorded_step &step = lastOf(recording);
  addSlice(tracks.arePlanned ? "plan"
                             : format("step %llu", static_cast<unsigned long long>(step.step)),
           tracks, Step, double(step.begin) + later, step.end - step.begin, [] {});
  for (size_t i = 0; i < step.events; ++i) {
    const zero_rt_event &event = recording.events[step.first_event + i];
    const zero_rt_command_info &command = commands[event.command];
    addSlice(*command.label ? command.label : command.name, tracks, trackOf(command),
             double(event.begin) + later, event.end - event.begin, [&] { writeArguments(event); });
    if (json.text().size() > kBuffer)
      ZERO_RT_TRY(flush());
  }
  return {};
}

/// When the first rank began its last step of any shape.
static uint64_t originOf(const std::vector<std::vector<zero_rt_recording>> &shapes) {
  uint64_t origin = UINT64_MAX;
  for (const std::vector<zero_rt_recording> &ranks : shapes)
    for (const zero_rt_recording &recording : ranks)
      if (recording.step_count > 0)
        origin = std::min(origin, lastOf(recording).begin);
  return origin;
}

Status writeTrace(const std::vector<zero_rt_command_info> &commands,
                  const std::vector<std::vector<zero_rt_recording>> &shapes,
                  const zero_rt_recording *plan, OutputFile &file) {
  const uint64_t origin = originOf(shapes);
  Writer writer(commands, file);
  writer.begin();
  for (size_t rank = 0; rank < shapes.front().size() && origin != UINT64_MAX; ++rank) {
    const Tracks own{int(rank), false}, planned{int(rank), true};
    writer.addRank(int(rank));
    writer.addTracks(own);
    for (const std::vector<zero_rt_recording> &ranks : shapes)
      if (ranks[rank].step_count > 0)
        ZERO_RT_TRY(writer.addStep(own, ranks[rank], -double(origin)));
    const zero_rt_recording &first = shapes.front()[rank];
    if (!plan || first.step_count == 0)
      continue;
    writer.addTracks(planned); // whose times begin with 0
    ZERO_RT_TRY(writer.addStep(planned, *plan, double(lastOf(first).begin - origin)));
  }
  return writer.end();
}

} // namespace zero::run
