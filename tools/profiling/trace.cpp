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
enum Track { Step, Compute, Collective, Tracks = 1 + ZERO_RT_LANES };

Track trackOf(const zero_rt_command_info &command) {
  return command.kind >= ZERO_RT_ALL_GATHER ? Collective : Track(Compute + int(command.lane));
}

/// "pid" and "tid" of a track. Readers take 0 for the idle process, and want numbers that
/// no two threads share.
std::string placeOf(int rank, Track track) {
  return format("\"pid\":%d,\"tid\":%d", rank + 1, rank * Tracks + track + 1);
}

class Writer {
public:
  Writer(const std::vector<zero_rt_command_info> &commands, OutputFile &file, uint64_t origin)
      : commands(commands), file(file), origin(origin) {
    for (const zero_rt_command_info &command : commands)
      isUsed[trackOf(command)] = true;
  }

  Status begin() { return file.write("{\"displayTimeUnit\":\"ms\",\"traceEvents\":["); }
  Status addRank(int rank, const zero_rt_recording &recording);
  Status end() {
    ZERO_RT_TRY(flush());
    return file.write("\n]}\n");
  }

private:
  void add(const std::string &event) {
    text += (isFirst ? "\n{" : ",\n{") + event + "}";
    isFirst = false;
  }
  void addName(const char *what, int rank, Track track, const std::string &name);
  void addSlice(int rank, Track track, const std::string &name, uint64_t begin, uint64_t end,
                const std::string &args);
  void addEvent(int rank, const zero_rt_event &event);
  Status flush() {
    Status status = file.write(text);
    text.clear();
    return status;
  }

  const std::vector<zero_rt_command_info> &commands;
  OutputFile &file;
  uint64_t origin; ///< of the times that are written
  std::array<bool, Tracks> isUsed{true, true, true};
  std::string text;
  bool isFirst = true;
};
} // namespace

void Writer::addName(const char *what, int rank, Track track, const std::string &name) {
  add(format("\"ph\":\"M\",\"name\":\"%s\",%s,\"args\":{\"name\":\"%s\"}", what,
             placeOf(rank, track).c_str(), name.c_str()));
}

/// Times become microseconds since the first rank began the step.
void Writer::addSlice(int rank, Track track, const std::string &name, uint64_t begin, uint64_t end,
                      const std::string &args) {
  const double start = (double(begin) - double(origin)) * 1e-3;
  add(format("\"ph\":\"X\",\"name\":\"%s\",%s,\"ts\":%.3f,\"dur\":%.3f,\"args\":{%s}",
             escape(name).c_str(), placeOf(rank, track).c_str(), start, double(end - begin) * 1e-3,
             args.c_str()));
}

void Writer::addEvent(int rank, const zero_rt_event &event) {
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
  addSlice(rank, trackOf(command), *command.label ? command.label : command.name, event.begin,
           event.end, args);
}

Status Writer::addRank(int rank, const zero_rt_recording &recording) {
  constexpr size_t kBuffer = size_t(1) << 20;
  addName("process_name", rank, Step, format("rank %d", rank));
  addName("thread_name", rank, Step, "step");
  for (int track = Compute; track < Tracks; ++track)
    if (isUsed[size_t(track)])
      addName("thread_name", rank, Track(track), zero_rt_lane_name(zero_rt_lane(track - Compute)));
  const zero_rt_recorded_step &step = lastOf(recording);
  addSlice(rank, Step, format("step %llu", static_cast<unsigned long long>(step.step)), step.begin,
           step.end, "");
  for (size_t i = 0; i < step.events; ++i) {
    addEvent(rank, recording.events[step.first_event + i]);
    if (text.size() > kBuffer)
      ZERO_RT_TRY(flush());
  }
  return {};
}

Status writeTrace(const std::vector<zero_rt_command_info> &commands,
                  const std::vector<zero_rt_recording> &ranks, OutputFile &file) {
  uint64_t origin = UINT64_MAX;
  for (const zero_rt_recording &recording : ranks)
    if (recording.step_count > 0)
      origin = std::min(origin, lastOf(recording).begin);
  Writer writer(commands, file, origin);
  ZERO_RT_TRY(writer.begin());
  if (ranks.front().step_count > 0)
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      ZERO_RT_TRY(writer.addRank(int(rank), ranks[rank]));
  return writer.end();
}

} // namespace zero::run
