//===- trace.cpp - a recorded step for Perfetto ---------------------------===//

#include "trace.h"

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
  /// "pid" and "tid". Readers take 0 for the idle process, and want numbers that no two threads
  /// share.
  std::string placeOf(Track track) const {
    return format("\"pid\":%d,\"tid\":%d", rank + 1, rank * 2 * kTracks + orderOf(track) + 1);
  }
};

class Writer {
public:
  Writer(const std::vector<zero_rt_command_info> &commands, OutputFile &file)
      : commands(commands), file(file) {
    for (const zero_rt_command_info &command : commands)
      isUsed[trackOf(command)] = true;
  }

  Status begin() { return file.write("{\"displayTimeUnit\":\"ms\",\"traceEvents\":["); }
  /// The process of `rank`.
  void addRank(int rank);
  /// The last step of `recording`, whose times are `later` nanoseconds too small.
  Status addStep(const Tracks &tracks, const zero_rt_recording &recording, double later);
  Status end() {
    ZERO_RT_TRY(flush());
    return file.write("\n]}\n");
  }

private:
  void add(const std::string &event) {
    text += (isFirst ? "\n{" : ",\n{") + event + "}";
    isFirst = false;
  }
  void addProperty(const char *what, const std::string &place, const std::string &value);
  void addTrack(const Tracks &tracks, Track track, const char *name);
  void addSlice(const std::string &name, const std::string &place, double begin, uint64_t took,
                const std::string &args);
  std::string argumentsOf(const zero_rt_event &event);
  Status flush() {
    Status status = file.write(text);
    text.clear();
    return status;
  }

  const std::vector<zero_rt_command_info> &commands;
  OutputFile &file;
  std::array<bool, kTracks> isUsed{true, true, true};
  std::string text;
  bool isFirst = true;
};
} // namespace

/// `what` is "process_name" or another that Chrome's format knows, `value` JSON.
void Writer::addProperty(const char *what, const std::string &place, const std::string &value) {
  add(format("\"ph\":\"M\",\"name\":\"%s\",%s,\"args\":{%s}", what, place.c_str(), value.c_str()));
}

void Writer::addTrack(const Tracks &tracks, Track track, const char *name) {
  const std::string place = tracks.placeOf(track);
  addProperty("thread_name", place,
              format("\"name\":\"%s%s\"", tracks.arePlanned ? "planned: " : "", name));
  addProperty("thread_sort_index", place, format("\"sort_index\":%d", tracks.orderOf(track)));
}

/// Times, in nanoseconds, become microseconds.
void Writer::addSlice(const std::string &name, const std::string &place, double begin,
                      uint64_t took, const std::string &args) {
  add(format("\"ph\":\"X\",\"name\":\"%s\",%s,\"ts\":%.3f,\"dur\":%.3f,\"args\":{%s}",
             escape(name).c_str(), place.c_str(), begin * 1e-3, double(took) * 1e-3, args.c_str()));
}

std::string Writer::argumentsOf(const zero_rt_event &event) {
  const zero_rt_command_info &command = commands[event.command];
  const bool isCollective = command.kind >= ZERO_RT_ALL_GATHER;
  const uint64_t active = event.end - event.begin - event.waited;
  std::string args = format("\"kernel\":\"%s\",\"turn\":%u,\"bytes\":%llu,\"flops\":%llu",
                            escape(command.name).c_str(), event.turn,
                            static_cast<unsigned long long>(command.bytes),
                            static_cast<unsigned long long>(command.flops));
  auto addRate = [&](const char *unit, uint64_t amount) { // in a nanosecond
    if (amount > 0 && active > 0)
      args += format(",\"%s\":%.3f", unit, double(amount) / double(active));
  };
  addRate("GB/s", command.bytes);
  addRate("GFLOP/s", command.flops);
  if (isCollective)
    args += format(",\"waiting us\":%.3f", double(event.waited) * 1e-3);
  if (command.recomputed)
    args += ",\"recomputed\":true";
  return args;
}

void Writer::addRank(int rank) {
  const std::string place = Tracks{rank, false}.placeOf(Step);
  addProperty("process_name", place, format("\"name\":\"rank %d\"", rank));
  addProperty("process_sort_index", place, format("\"sort_index\":%d", rank));
}

Status Writer::addStep(const Tracks &tracks, const zero_rt_recording &recording, double later) {
  constexpr size_t kBuffer = size_t(1) << 20;
  addTrack(tracks, Step, "step");
  for (int track = Compute; track < kTracks; ++track)
    if (isUsed[size_t(track)])
      addTrack(tracks, Track(track), zero_rt_lane_name(zero_rt_lane(track - Compute)));
  const zero_rt_recorded_step &step = lastOf(recording);
  addSlice(tracks.arePlanned ? "plan"
                             : format("step %llu", static_cast<unsigned long long>(step.step)),
           tracks.placeOf(Step), double(step.begin) + later, step.end - step.begin, "");
  for (size_t i = 0; i < step.events; ++i) {
    const zero_rt_event &event = recording.events[step.first_event + i];
    const zero_rt_command_info &command = commands[event.command];
    addSlice(*command.label ? command.label : command.name, tracks.placeOf(trackOf(command)),
             double(event.begin) + later, event.end - event.begin, argumentsOf(event));
    if (text.size() > kBuffer)
      ZERO_RT_TRY(flush());
  }
  return {};
}

Status writeTrace(const std::vector<zero_rt_command_info> &commands,
                  const std::vector<zero_rt_recording> &ranks, const zero_rt_recording *plan,
                  OutputFile &file) {
  uint64_t origin = UINT64_MAX; // when the first rank began
  for (const zero_rt_recording &recording : ranks)
    if (recording.step_count > 0)
      origin = std::min(origin, lastOf(recording).begin);
  Writer writer(commands, file);
  ZERO_RT_TRY(writer.begin());
  for (size_t rank = 0; rank < ranks.size() && ranks.front().step_count > 0; ++rank) {
    writer.addRank(int(rank));
    ZERO_RT_TRY(writer.addStep({int(rank), false}, ranks[rank], -double(origin)));
    if (plan) // whose times begin with 0
      ZERO_RT_TRY(
          writer.addStep({int(rank), true}, *plan, double(lastOf(ranks[rank]).begin - origin)));
  }
  return writer.end();
}

} // namespace zero::run
