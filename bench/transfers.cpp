//===- transfers.cpp - measures the transfers of a step -------------------===//
//
// usage: transfers MODEL.zexe FOLDER,... [STEPS]. Executes only the disk transfers of a step: the
// same pieces in the same order, with concurrent reads and writes, on all ranks, with files in
// FOLDER. A write waits for the read of its data, and for nothing else. Prints a line of JSON: the
// seconds of each step, and the bytes of a rank.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/host/host_group.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/execute/lane_work.h"
#include "runtime/support/json_writer.h"
#include "runtime/verify/lifetimes.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>

using namespace zero::rt;
using Clock = std::chrono::steady_clock;

namespace {

/// A transfer, and the number of reads of the step that must be complete before it.
struct Piece {
  const Command *command;
  uint64_t behind;
};

/// A rank's arenas and files, and the pieces that its step reads and writes.
struct Member {
  RankMemory memory;
  std::vector<CommandSegment> segments;
  std::vector<Piece> reads, writes;
  std::unique_ptr<LaneWork> reader, writer;
  std::atomic<uint64_t> done = 0; ///< reads of the step

  explicit Member(const DriveFolders &folders) : memory({folders, DiskQueue::Kind::Any}) {}

  Status open(const LoadedProgram &program, Communicator &communicator, Device &device) {
    const int rank = communicator.rank();
    ZERO_RT_TRY(memory.openFiles(program, rank));
    Meter meter; // reports nothing
    ZERO_RT_TRY(memory.reserve(device, program.tables(), rank, /*guarded=*/false, meter));
    segments = resolveCommands(program.tables(), rank, memory.bases(), 0);
    for (const CommandSegment &segment : segments)
      for (uint64_t iteration = 0; iteration < segment.repeat; ++iteration)
        for (const Command &command : segment.commands)
          if (runsInIteration(command.when, iteration, segment.repeat))
            collect(command);
    ZERO_RT_TRY(LaneWork::open(proto::NVME_READ, communicator, device, memory, reader));
    return LaneWork::open(proto::NVME_WRITE, communicator, device, memory, writer);
  }

  void collect(const Command &command) {
    const auto *disk = std::get_if<DiskCommand>(&command.body);
    if (disk && disk->writes)
      writes.push_back({&command, lastRead[disk->offset]});
    else if (disk) {
      reads.push_back({&command, 0});
      lastRead[disk->offset] = reads.size();
    }
  }

  Status read() {
    LaneWork::Span span;
    for (const Piece &piece : reads) {
      ZERO_RT_TRY(reader->run(*piece.command, span));
      ++done;
      done.notify_one();
    }
    return {};
  }

  Status write() {
    LaneWork::Span span;
    for (const Piece &piece : writes) {
      for (uint64_t now = done; now < piece.behind; now = done)
        done.wait(now);
      ZERO_RT_TRY(writer->run(*piece.command, span));
    }
    return {};
  }

private:
  std::map<uint64_t, uint64_t> lastRead; ///< by offset on disk
};

void expect(const Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "transfers: error: %s\n", status.getMessage().c_str());
  std::exit(1);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: transfers MODEL.zexe FOLDER,... [STEPS]\n");
    return 1;
  }
  const int steps = argc > 3 ? int(std::strtol(argv[3], nullptr, 10)) : 5;
  DriveFolders folders;
  expect(DriveFolders::parse(argv[2], folders));
  std::shared_ptr<const LoadedProgram> program;
  expect(loadProgram(argv[1], program));
  std::unique_ptr<Device> device = makeCpuDevice(program->module);
  std::vector<std::unique_ptr<Communicator>> group = makeThreadGroup({program->ranks()});
  std::vector<std::unique_ptr<Member>> members;
  for (auto &communicator : group) {
    members.push_back(std::make_unique<Member>(folders));
    expect(members.back()->open(*program, *communicator, *device));
  }
  std::barrier together(2 * program->ranks() + 1);
  std::vector<std::thread> lanes;
  for (auto &member : members)
    for (bool writing : {false, true})
      lanes.emplace_back([&, writing, &member = *member] {
        for (int step = 0; step < steps; ++step) {
          if (!writing)
            member.done = 0;
          together.arrive_and_wait();
          expect(writing ? member.write() : member.read());
          together.arrive_and_wait();
        }
      });
  JsonWriter json;
  json.begin('{');
  json.key("seconds").begin('[');
  for (int step = 0; step < steps; ++step) {
    together.arrive_and_wait();
    const auto begin = Clock::now();
    together.arrive_and_wait();
    json.fixed(std::chrono::duration<double>(Clock::now() - begin).count(), 6);
  }
  json.end();
  for (std::thread &lane : lanes)
    lane.join();
  const auto &first = *members.front();
  json.member("read", first.reader->use().bytes / uint64_t(steps));
  json.member("written", first.writer->use().bytes / uint64_t(steps));
  json.end();
  std::printf("%s\n", json.text().c_str());
  return 0;
}
