//===- warp.cpp - the state of 32 threads ---------------------------------===//
//
// Threads of a warp that are at the same place form a group. The group that is least far in the
// code runs until it reaches the place of the next one, which it joins. Where a barrier or a
// shuffle names threads that are elsewhere, a group waits for them; if all groups wait, the threads
// can never meet.
//
//===----------------------------------------------------------------------===//

#include "warp.h"

#include <algorithm>

namespace ptx {

/// Registers of warps that have ended: kernels have thousands, and filling them for each launch
/// would take longer than many kernels.
static thread_local std::vector<std::vector<uint8_t>> spareRegisters;

static std::vector<uint8_t> takeRegisters(uint64_t bytes) {
  std::vector<uint8_t> taken;
  if (!spareRegisters.empty()) {
    taken = std::move(spareRegisters.back());
    spareRegisters.pop_back();
  }
  if (taken.size() < bytes)
    taken.resize(bytes, 0xa5);
  return taken;
}

Warp::~Warp() { spareRegisters.push_back(std::move(registers)); }

Warp::Warp(Launch &launch, uint32_t number)
    : launch(launch), number(number), registers(takeRegisters(launch.entry.registerBytes + 64)),
      local(launch.entry.localBytes * kLanes, char(0xa5)),
      localShadow(launch.entry.localBytes * kLanes) {
  const uint32_t threads = std::min(launch.shape.threads - number * kLanes, kLanes);
  whole = threads == kLanes ? kAllLanes : (Mask(1) << threads) - 1;
  for (const Entry::Constant &constant : launch.entry.constants)
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      std::memcpy(at<char>(constant.place + lane * constant.bytes), &constant.bits, constant.bytes);
}

void Warp::setSpecial(const char *name, uint32_t (*valueOf)(const Warp &, uint32_t lane)) {
  auto found = launch.entry.specials.find(name);
  if (found == launch.entry.specials.end())
    return;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    at<uint32_t>(found->second)[lane] = valueOf(*this, lane);
}

void Warp::setSpecials() {
  setSpecial("%tid.x", [](const Warp &warp, uint32_t lane) { return warp.number * kLanes + lane; });
  setSpecial("%ntid.x", [](const Warp &warp, uint32_t) { return warp.launch.shape.threads; });
  setSpecial("%ctaid.x", [](const Warp &warp, uint32_t) { return warp.launch.block; });
  setSpecial("%nctaid.x", [](const Warp &warp, uint32_t) { return warp.launch.shape.blocks; });
  setSpecial("%laneid", [](const Warp &, uint32_t lane) { return lane; });
  for (const char *zero : {"%tid.y", "%tid.z", "%ctaid.y", "%ctaid.z"})
    setSpecial(zero, [](const Warp &, uint32_t) { return 0u; });
  for (const char *one : {"%ntid.y", "%ntid.z", "%nctaid.y", "%nctaid.z"})
    setSpecial(one, [](const Warp &, uint32_t) { return 1u; });
}

void Warp::begin() {
  live = whole;
  groups = {{.lanes = whole}};
  copies.clear();
  epoch = 0;
  current = State::Running;
  setSpecials();
  localShadow.forget();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Joins groups that are at the same place, and returns the first one that can run.
size_t Warp::chooseGroup() {
  if (groups.size() == 1 && !groups.front().waits)
    return 0;
  std::sort(groups.begin(), groups.end(),
            [](const Group &one, const Group &other) { return one.place < other.place; });
  size_t last = 0;
  for (size_t i = 1; i < groups.size(); ++i)
    if (groups[i].place == groups[last].place)
      groups[last] = {groups[i].place, groups[last].lanes | groups[i].lanes, false};
    else
      groups[++last] = groups[i];
  groups.resize(last + 1);
  auto found = std::find_if(groups.begin(), groups.end(), [](const Group &g) { return !g.waits; });
  if (found == groups.end())
    failToMeet();
  return size_t(found - groups.begin());
}

void Warp::failToMeet() const {
  std::string text = "threads wait for each other at different places:";
  for (const Group &group : groups) {
    char lanes[16];
    std::snprintf(lanes, sizeof(lanes), "%08x", group.lanes);
    const Statement &statement = launch.entry.statements[group.place];
    text += std::string(" lanes ") + lanes + " at '" + statement.opcode + "' in line " +
            std::to_string(statement.line) + ";";
  }
  if (live != whole)
    text += " others have ended;";
  text.pop_back();
  fault(uint32_t(__builtin_ctz(groups.front().lanes)), text);
}

bool Warp::haveMet(const Instruction &instruction) {
  if (instruction.flow == Instruction::Flow::MeetAll)
    return active == live;
  const auto *masks = at<Mask>(instruction.c);
  const Mask mask = masks[__builtin_ctz(active)];
  forEachLane([&](uint32_t lane) {
    if (masks[lane] != mask || !(mask >> lane & 1))
      fault(lane, "is not in its own mask, or has another one than its warp");
  });
  return (active & mask & live) == (mask & live);
}

/// Runs one instruction that is not like most. Returns whether the group simply goes on.
bool Warp::step(Group &group, const Instruction &instruction) {
  if (instruction.flow != Instruction::Flow::Jump) {
    if (haveMet(instruction)) {
      instruction.run(*this, instruction);
      return current == State::Running;
    }
    group.waits = true;
    return false;
  }
  arriving.clear();
  ending = 0;
  instruction.run(*this, instruction);
  Mask gone = ending;
  for (const Group &each : arriving)
    gone |= each.lanes;
  live &= ~ending;
  group.lanes &= ~gone;
  ++group.place;
  if (group.lanes == 0)
    groups.erase(groups.begin() + (&group - groups.data()));
  groups.insert(groups.end(), arriving.begin(), arriving.end());
  if (ending != 0)
    for (Group &each : groups)
      each.waits = false;
  if (groups.empty())
    current = State::Ended;
  return false;
}

void Warp::runGroup(Group &group, uint32_t end) {
  const std::vector<Instruction> &code = launch.entry.code;
  for (place = group.place; place != end; ++place) {
    const Instruction &instruction = code[place];
    active = group.lanes;
    if (instruction.guard != kNoRegister) {
      const Mask guard = predicate(instruction.guard);
      active &= instruction.negated ? ~guard : guard;
      if (active == 0)
        continue;
    }
    if (instruction.flow == Instruction::Flow::Next) {
      instruction.run(*this, instruction);
      continue;
    }
    group.place = place;
    if (!step(group, instruction))
      return;
  }
  group.place = place;
}

void Warp::run(uint32_t branches) {
  for (; branches > 0 && current == State::Running; --branches) {
    const size_t chosen = chooseGroup();
    const bool isLast = chosen + 1 == groups.size();
    runGroup(groups[chosen], isLast ? ~uint32_t(0) : groups[chosen + 1].place);
  }
}

void Warp::jump(Mask taken, uint32_t target) { arriving.push_back({target, taken, false}); }

void Warp::meetInWarp(Mask mask) {
  // Only then are all accesses of the warp ordered.
  if ((mask & live) == live)
    epoch = (epoch + 1) % kEpochs;
}

void Warp::meetInBlock(uint32_t barrier) {
  barrierNumber = barrier;
  current = State::AtBarrier;
}

void Warp::pass() {
  ++groups.front().place;
  current = State::Running;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void Warp::fault(uint32_t lane, const std::string &what) const {
  const Statement &statement = launch.entry.statements[place];
  throw Fault("kernel '" + launch.entry.name + "', line " + std::to_string(statement.line) + " (" +
              statement.opcode + "): thread " + std::to_string(number * kLanes + lane) +
              " of block " + std::to_string(launch.block) + ": " + what);
}

void Warp::faultOf(uint32_t lane, uint64_t bytes, const char *value, const Verdict &verdict) const {
  const std::string access =
      (value ? "writes " : "reads ") + std::to_string(bytes) + " bytes that ";
  const bool isOtherBlock = verdict.earlier.phase < launch.blockPhase;
  const std::string who = isOtherBlock || verdict.earlier.manyBlocks
                              ? "another block"
                              : "thread " + std::to_string(verdict.earlier.thread);
  switch (verdict.conflict) {
  case Conflict::None:
    return;
  case Conflict::Unwritten:
    fault(lane, access + "nobody has written");
  case Conflict::WithWrite:
    fault(lane, access + who + " writes, without a barrier between them");
  case Conflict::WithRead:
    fault(lane, access + who + " reads, without a barrier between them");
  case Conflict::NonCoherent:
    fault(lane, access + who + " has written in this launch, past the coherent cache");
  }
}

void Warp::failAligned(uint32_t lane, uint64_t bytes) const {
  fault(lane, "the address is not a multiple of " + std::to_string(bytes));
}

char *Warp::locateIn(Region &region, uint64_t offset, uint32_t lane, uint64_t bytes, uint32_t since,
                     const char *value, bool nonCoherent) {
  char *host = region.host.get() + offset;
  const Access who{since, launch.blockPhase, launch.phase, epoch, number * kLanes + lane};
  const Verdict verdict = value ? region.shadow.write(offset, bytes, who, host, value)
                                : region.shadow.read(offset, bytes, who, nonCoherent);
  if (verdict.conflict != Conflict::None)
    faultOf(lane, bytes, value, verdict);
  return host;
}

char *Warp::locateLocal(uint64_t offset, uint32_t lane, uint64_t bytes, bool isWrite) {
  const uint64_t own = launch.entry.localBytes;
  if (bytes > own || offset > own - bytes)
    fault(lane, "accesses byte " + std::to_string(offset) + " of " + std::to_string(own) +
                    " bytes of local memory");
  const uint64_t place = lane * own + offset;
  if (isWrite)
    localShadow.fill(place, bytes);
  else if (!localShadow.isWritten(place, bytes))
    fault(lane, "reads local memory that it has not written");
  return local.data() + place;
}

const char *Warp::locateArgument(uint64_t address, uint32_t lane, uint64_t bytes) const {
  checkAligned(address, lane, bytes);
  for (const Parameter &parameter : launch.entry.parameters)
    if (address >= parameter.offset && bytes <= parameter.bytes &&
        address - parameter.offset <= parameter.bytes - bytes)
      return reinterpret_cast<const char *>(launch.arguments.data()) + address;
  fault(lane, "reads byte " + std::to_string(address) + " of the parameters, which is in none");
}

char *Warp::locate(const Instruction &instruction, uint64_t address, uint32_t lane, uint64_t bytes,
                   const char *value) {
  checkAligned(address, lane, bytes);
  Space space = instruction.space;
  if (space == Space::Generic) {
    space = address - kSharedWindow < kWindowBytes  ? Space::Shared
            : address - kLocalWindow < kWindowBytes ? Space::Local
                                                    : Space::Global;
    address -= space == Space::Shared ? kSharedWindow : space == Space::Local ? kLocalWindow : 0;
  }
  if (space == Space::Local)
    return locateLocal(address, lane, bytes, value != nullptr);
  if (space == Space::Shared) {
    if (!launch.shared.contains(address, bytes))
      fault(lane, "accesses byte " + std::to_string(address) + " of " +
                      std::to_string(launch.shared.bytes) + " bytes of shared memory");
    return locateIn(launch.shared, address, lane, bytes, launch.blockPhase, value, false);
  }
  if (!recent || !recent->contains(address, bytes))
    recent = launch.memory.find(address, bytes);
  if (!recent)
    fault(lane, std::string(value ? "writes " : "reads ") + std::to_string(bytes) + " bytes at " +
                    launch.memory.describe(address));
  return locateIn(*recent, address - recent->address, lane, bytes, launch.firstPhase, value,
                  instruction.nonCoherent);
}

} // namespace ptx
