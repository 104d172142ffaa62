//===- state_program.cpp - a program that has only state ------------------===//

#include "state_program.h"

#include "runtime/execute/state.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <unistd.h>

using namespace zero::rt;
namespace fs = std::filesystem;

void StateProgram::add(proto::Role role, proto::DType dtype, bool sharded,
                       const std::vector<Member> &members, uint64_t gap) {
  uint64_t elements = 0;
  for (const Member &member : members) {
    auto *tensor = program.add_tensors();
    tensor->set_name(member.name);
    tensor->set_role(role);
    tensor->set_dtype(dtype);
    tensor->mutable_shape()->Assign(member.shape.begin(), member.shape.end());
    tensor->set_buffer(uint32_t(program.buffers_size()));
    tensor->set_start(elements);
    elements += elementsOf(tensor->shape()) + gap;
  }
  addBuffer(dtype, sharded, elements);
}

void StateProgram::addTiled(proto::Role role, proto::DType dtype, bool sharded, Member member,
                            uint32_t axis, const std::vector<uint64_t> &extents) {
  auto *tensor = program.add_tensors();
  tensor->set_name(member.name);
  tensor->set_role(role);
  tensor->set_dtype(dtype);
  tensor->mutable_shape()->Assign(member.shape.begin(), member.shape.end());
  tensor->set_tile_axis(axis);
  for (uint64_t extent : extents) {
    auto *tile = tensor->add_tiles();
    tile->set_buffer(uint32_t(program.buffers_size()));
    tile->set_extent(extent);
    addBuffer(dtype, sharded, elementsOf(tensor->shape()) / member.shape[axis] * extent);
  }
}

StateProgram::StateProgram(const std::vector<int> &sizes) {
  program.set_ranks(1);
  for (int size : sizes) {
    program.add_mesh()->set_size(uint32_t(size));
    program.set_ranks(program.ranks() * uint32_t(size));
  }
}

void StateProgram::addDivided(proto::DType dtype, Member member, const Division &division) {
  const Mesh mesh = meshOf(program);
  auto *tensor = program.add_tensors();
  tensor->set_name(member.name);
  tensor->set_role(proto::PARAMETER);
  tensor->set_dtype(dtype);
  tensor->mutable_shape()->Assign(member.shape.begin(), member.shape.end());
  tensor->set_buffer(uint32_t(program.buffers_size()));
  proto::Split &split = *tensor->mutable_split();
  split.set_dimension(division.dimension);
  split.mutable_axes()->Assign(division.splitAxes.begin(), division.splitAxes.end());
  split.mutable_parts()->Assign(division.parts.begin(), division.parts.end());
  tensor->set_tile_axis(division.tileAxis);
  const uint64_t held = elementsOf(tensor->shape()) / uint64_t(mesh.shares(division.splitAxes));
  const auto shards = uint64_t(mesh.shares(division.shardAxes));
  auto add = [&](uint64_t elements) {
    addBuffer(dtype, false, (elements + shards - 1) / shards);
    proto::Buffer &buffer = *program.mutable_buffers()->rbegin();
    buffer.set_shards(uint32_t(shards));
    buffer.mutable_shard_axes()->Assign(division.shardAxes.begin(), division.shardAxes.end());
  };
  for (uint64_t extent : division.tiles) {
    auto *tile = tensor->add_tiles();
    tile->set_buffer(uint32_t(program.buffers_size()));
    tile->set_extent(extent);
    add(held / heldExtent(mesh, *tensor, division.tileAxis) * extent);
  }
  if (division.tiles.empty())
    add(held);
}

void StateProgram::addBuffer(proto::DType dtype, bool sharded, uint64_t elements) {
  const uint32_t ranks = program.ranks();
  auto *buffer = program.add_buffers();
  buffer->set_dtype(dtype);
  buffer->set_shards(sharded ? ranks : 1);
  if (buffer->shards() > 1)
    buffer->add_shard_axes(0);
  buffer->set_elements(sharded ? (elements + ranks - 1) / ranks : elements);
  buffer->set_offset(arenaBytes);
  arenaBytes += (buffer->elements() * sizeOf(toDType(dtype)) + 63) / 64 * 64;
}

proto::Tensor &StateProgram::tensor(const std::string &name) {
  for (proto::Tensor &each : *program.mutable_tensors())
    if (each.name() == name)
      return each;
  ADD_FAILURE() << "no tensor " << name;
  return *program.mutable_tensors(0);
}

void StateProgram::clear(char byte) {
  arenas.assign(program.ranks(), std::string(arenaBytes, byte));
}

void StateProgram::fill() {
  clear();
  for (const proto::Tensor &each : program.tensors()) {
    const uint64_t size = sizeOf(toDType(each.dtype()));
    std::string bytes(elementsOf(each.shape()) * size, '\0');
    uint32_t state = uint32_t(std::hash<std::string>()(each.name()));
    for (char &byte : bytes)
      byte = char((state = state * 1664525 + 1013904223) >> 24);
    // The highest bit of exponents: checkpoints refuse what is not finite.
    for (uint64_t last = size - 1; last < bytes.size(); last += size)
      bytes[last] &= ~0x40;
    write(each.name(), bytes);
  }
}

void StateProgram::write(const std::string &name, const std::string &bytes) {
  const proto::Tensor &each = tensor(name);
  const uint64_t size = sizeOf(toDType(each.dtype()));
  auto make = [&](uint64_t begin, uint64_t count, char *target) {
    std::memcpy(target, &bytes[begin * size], count * size);
  };
  for (const Block &block : blocksOf(program, each))
    for (size_t rank = 0; rank < arenas.size(); ++rank)
      EXPECT_DONE(setOwnPart(block, int(rank), arena(rank), make));
}

std::string StateProgram::read(const std::string &name) {
  const proto::Tensor &each = tensor(name);
  const uint64_t size = sizeOf(toDType(each.dtype()));
  std::string whole(elementsOf(each.shape()) * size, '\0');
  for (size_t rank = 0; rank < arenas.size(); ++rank) {
    for (const Block &block : blocksOf(program, each))
      EXPECT_DONE(forEachPart(block, int(rank), [&](const Part &part) {
        const uint64_t place = placeOf(block.mesh, *block.buffer, int(rank)) + part.inBuffer * size;
        std::memcpy(&whole[part.inTensor * size], &arenas[rank][place], part.count * size);
        return Status();
      }));
    const proto::Buffer &buffer = program.buffers(int(each.buffer()));
    if (buffer.shards() == 1 && each.tiles_size() == 0 && !each.has_split())
      EXPECT_EQ(arenas[rank].substr(buffer.offset() + each.start() * size, whole.size()), whole)
          << name << " on rank " << rank;
  }
  return whole;
}

Status StateProgram::save(const std::string &folder, uint64_t step) {
  proto::Manifest about;
  about.set_step(step);
  std::unique_ptr<CheckpointWriter> writer;
  ZERO_RT_TRY(CheckpointWriter::create(program, folder, about, {}, writer));
  Meter meter;
  for (size_t rank = 0; rank < arenas.size(); ++rank)
    ZERO_RT_TRY(writer->writeRank(int(rank), arena(rank), meter));
  std::string path;
  std::vector<std::string> remarks;
  ZERO_RT_TRY(writer->prepare());
  ZERO_RT_TRY(writer->commit(path));
  Status status = writer->removeOthers({}, remarks);
  EXPECT_TRUE(remarks.empty());
  return status;
}

Status StateProgram::load(const std::string &path) {
  std::shared_ptr<CheckpointReader> reader;
  damaged.clear();
  Meter meter;
  auto verify = [&](const std::shared_ptr<CheckpointReader> &opened) {
    std::vector<uint32_t> files(size_t(opened->manifest().files_size()));
    std::iota(files.begin(), files.end(), 0);
    ZERO_RT_TRY(opened->verify(files, 0, 2, meter));
    return opened->verify(files, 1, 2, meter);
  };
  ZERO_RT_TRY(openNewest(path, gatherNone, verify, reader, damaged));
  LoadPlan plan;
  ZERO_RT_TRY(planLoad(program, reader->manifest(), plan));
  for (size_t rank = 0; rank < arenas.size(); ++rank)
    ZERO_RT_TRY(reader->readRank(plan, int(rank), arena(rank), meter));
  remarks = plan.remarks;
  generation = reader->path();
  return {};
}

void CheckpointTest::SetUp() {
  folder = testing::TempDir() + "zero-checkpoint-" + std::to_string(::getpid());
  fs::remove_all(folder);
}

void CheckpointTest::TearDown() { fs::remove_all(folder); }

std::string CheckpointTest::contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

void CheckpointTest::replace(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

void CheckpointTest::flip(const std::string &path, size_t at, char bits) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(std::streamoff(at));
  const char byte = char(file.get() ^ bits);
  file.seekp(std::streamoff(at));
  file.put(byte);
}

std::vector<std::string> CheckpointTest::names() const {
  std::vector<std::string> found;
  for (const auto &entry : fs::directory_iterator(folder))
    found.push_back(entry.path().filename());
  std::sort(found.begin(), found.end());
  return found;
}
