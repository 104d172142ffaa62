//===- tier_program.cpp - a training step on all tiers --------------------===//

#include "tier_program.h"

#include "parts.h"
#include "runtime/format/accesses.h"

#include <filesystem>

using namespace zero::rt;

namespace {
enum Kernels { Sgd = 3, Increment = 5, Add = 8 };
enum Use { Reads = 1, Writes = 2 };
} // namespace

/// The address of one value on a tier. The number of the value is derived from its offset.
static proto::Address in(proto::Tier tier, uint64_t offset, uint64_t bytes, int use,
                         int64_t stride = 0) {
  proto::Address made = address(offset, stride);
  const uint32_t value = uint32_t(uint64_t(tier) * 100000000 + offset + 1);
  made.set_tier(tier);
  made.set_bytes(bytes);
  made.set_reads(use & Reads ? value : 0);
  made.set_writes(use & Writes ? value : 0);
  return made;
}

static proto::Command transfer(proto::Lane lane, const proto::Address &source,
                               const proto::Address &destination, const char *label) {
  proto::Command command;
  command.set_label(label);
  command.set_lane(lane);
  proto::Copy &copy = *command.mutable_copy();
  *copy.mutable_src() = source;
  *copy.mutable_dst() = destination;
  copy.mutable_dst()->set_writes(
      uint32_t(uint64_t(destination.tier()) * 100000000 + destination.offset() + 1));
  copy.mutable_dst()->set_reads(0);
  copy.set_bytes(source.bytes());
  return command;
}

static proto::Command launchOn(proto::Lane lane, Kernels kernel,
                               std::initializer_list<proto::Address> arguments, int64_t length,
                               const char *label) {
  proto::Command command;
  command.set_label(label);
  command.set_lane(lane);
  command.mutable_launch()->set_kernel(kernel);
  command.mutable_launch()->set_length(length);
  for (const proto::Address &argument : arguments)
    *command.mutable_launch()->add_args() = argument;
  return command;
}

static void put(proto::Buffer &buffer, proto::Tier tier, uint64_t offset) {
  buffer.set_tier(tier);
  buffer.set_offset(offset);
  buffer.set_value(in(tier, offset, 0, Reads).reads());
}

static uint64_t roundUp(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

TierProgram::TierProgram(int ranks, int microBatches, bool onTiers)
    : TinyProgram(ranks, microBatches) {
  order = orderByBytes;
  addKernels(program, {{"count_labels"}, {"add", {4, 4}}});
  segment(1).mutable_commands()->DeleteSubrange(1, 1); // removes the counter's command
  addState(onTiers);
  if (onTiers)
    addStepOnTiers();
  else
    addStepInMemory();
}

void TierProgram::addState(bool onTiers) {
  const uint64_t bytes = kBig * 4, ranks = program.ranks();
  addTensor(program, "big", proto::OPTIMIZER, proto::F32, {kBig, uint32_t(ranks), 0},
            {kBig * ranks})
      ->mutable_init()
      ->set_splat(1.1);
  addTensor(program, "part", proto::OPTIMIZER, proto::F32, {kBig, 1, 0}, {kBig})
      ->mutable_init()
      ->set_splat(0.3);
  proto::Buffer &big = *program.mutable_buffers(3), &part = *program.mutable_buffers(4);
  if (!onTiers) {
    put(big, proto::DEVICE, at.end);
    put(part, proto::DEVICE, at.end + (bytes + 63) / 64 * 64);
    program.mutable_arenas(0)->set_bytes(at.end + 2 * ((bytes + 63) / 64 * 64));
    return;
  }
  disk = {0, 4096, 4096 + roundUp(bytes)};
  host = {0,
          4096,
          4096 + roundUp(bytes),
          4096 + 2 * roundUp(bytes),
          8192 + 2 * roundUp(bytes),
          8192 + 2 * roundUp(bytes) + 64,
          8192 + 2 * roundUp(bytes) + 128};
  put(*program.mutable_buffers(0), proto::NVME, disk.w);
  put(*program.mutable_buffers(1), proto::HOST, host.count);
  put(big, proto::NVME, disk.big);
  put(part, proto::HOST, host.part);
  for (auto [tier, end, alignment] :
       {std::tuple(proto::HOST, host.end, 64), {proto::NVME, disk.end, 4096}}) {
    proto::Arena &arena = *program.add_arenas();
    arena.set_tier(tier);
    arena.set_bytes(end);
    arena.set_alignment(uint64_t(alignment));
  }
}

void TierProgram::addStepInMemory() {
  const uint64_t bytes = kBig * 4;
  const uint64_t big = program.buffers(3).offset(), part = program.buffers(4).offset();
  *segment(1).add_commands() = launchOn(
      proto::COMPUTE, Increment, {in(proto::DEVICE, at.count, 8, Reads | Writes)}, 0, "count");
  *segment(1).add_commands() = launchOn(
      proto::COMPUTE, Add,
      {in(proto::DEVICE, big, bytes, Reads | Writes), in(proto::DEVICE, part, bytes, Reads)},
      int64_t(kBig), "add");
}

void TierProgram::addStepOnTiers() {
  const uint64_t shard = slice * 4, bytes = kBig * 4;
  const auto wOnDisk = in(proto::NVME, disk.w, shard, Reads);
  const auto wOnHost = in(proto::HOST, host.w, shard, Reads);
  const auto wOnDevice = in(proto::DEVICE, at.shard, shard, Reads);
  const auto bigOnDisk = in(proto::NVME, disk.big, bytes, Reads);
  const auto bigOnHost = in(proto::HOST, host.big, bytes, Reads);
  const auto gradient = in(proto::DEVICE, at.gradient, shard, Reads, int64_t(shard));
  const auto gradientOnHost = in(proto::HOST, host.gradient, shard, Reads);
  const auto lrOnHost = in(proto::HOST, host.lr, 4, Reads);
  const proto::Segment step = segment(0);
  segment(0).clear_commands();
  for (proto::Command command : {transfer(proto::NVME_READ, wOnDisk, wOnHost, "read w"),
                                 transfer(proto::H2D, wOnHost, wOnDevice, "w to the device")}) {
    command.set_forward(true);
    *segment(0).add_commands() = command;
  }
  for (const proto::Command &command : step.commands())
    *segment(0).add_commands() = command;
  *segment(0).add_commands() =
      transfer(proto::D2H, in(proto::DEVICE, at.lr, 4, Reads), lrOnHost, "lr to the host");
  segment(1).clear_commands();
  for (const proto::Command &command :
       {transfer(proto::NVME_READ, bigOnDisk, bigOnHost, "read big"),
        transfer(proto::D2H, gradient, gradientOnHost, "gradient to the host"),
        launchOn(proto::HOST_COMPUTE, Sgd,
                 {in(proto::HOST, host.w, shard, Reads | Writes), gradientOnHost, lrOnHost},
                 int64_t(slice), "update w"),
        transfer(proto::NVME_WRITE, wOnHost, wOnDisk, "write w"),
        launchOn(proto::HOST_COMPUTE, Increment, {in(proto::HOST, host.count, 8, Reads | Writes)},
                 0, "count"),
        launchOn(proto::HOST_COMPUTE, Add,
                 {in(proto::HOST, host.big, bytes, Reads | Writes),
                  in(proto::HOST, host.part, bytes, Reads)},
                 int64_t(kBig), "add"),
        transfer(proto::NVME_WRITE, bigOnHost, bigOnDisk, "write big")})
    *segment(1).add_commands() = command;
}

static bool areOrdered(const std::vector<Access> &left, const std::vector<Access> &right) {
  for (const Access &one : left)
    for (const Access &other : right)
      if ((one.writes || other.writes) && one.range.begin < other.range.end &&
          other.range.begin < one.range.end)
        return true;
  return false;
}

void orderByBytes(proto::Program &program) {
  for (proto::Segment &segment : *program.mutable_segments()) {
    std::vector<std::vector<Access>> touched;
    for (int i = 0; i < segment.commands_size(); ++i) {
      proto::Command &command = *segment.mutable_commands(i);
      touched.push_back(accessesOfAllRanks(program, command));
      std::map<int, int> last; // by lane
      for (int earlier = 0; earlier < i; ++earlier)
        if (segment.commands(earlier).lane() != command.lane() &&
            areOrdered(touched[size_t(earlier)], touched.back()))
          last[segment.commands(earlier).lane()] = earlier;
      command.clear_waits();
      for (auto [lane, earlier] : last)
        command.add_waits(uint32_t(earlier));
    }
  }
}

TemporaryFolder::TemporaryFolder(const std::string &parent) {
  path = parent + "/tiers-test-XXXXXX";
  EXPECT_NE(::mkdtemp(path.data()), nullptr);
}
TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path); }
bool TemporaryFolder::isEmpty() const { return std::filesystem::is_empty(path); }
