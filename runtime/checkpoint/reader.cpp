//===- reader.cpp - read a checkpoint -------------------------------------===//

#include "runtime/checkpoint/reader.h"

#include "runtime/support/floats.h"

#include <filesystem>

namespace zero::rt {

/// Bytes that are read and summed up, or converted, at a time.
static constexpr uint64_t kChunk = uint64_t(1) << 20;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static Status badFile(const Generation &generation, const std::string &name,
                      const std::string &what) {
  return fail(ZERO_RT_BAD_FILE, "'%s/%s': %s", escape(generation.path).c_str(),
              escape(name).c_str(), what.c_str());
}

Status CheckpointReader::openFile(const proto::Manifest::File &listed, InputFile &file,
                                  uint64_t &data) {
  uint64_t header = 0;
  ZERO_RT_TRY(InputFile::open(generation.path + "/" + listed.name(), file));
  const uint64_t size = file.size();
  if (size != listed.bytes())
    return badFile(generation, listed.name(),
                   format("%s: expected %llu bytes, got %llu",
                          size < listed.bytes() ? "truncated" : "wrong size",
                          static_cast<unsigned long long>(listed.bytes()),
                          static_cast<unsigned long long>(size)));
  if (size >= sizeof(header))
    ZERO_RT_TRY(file.read(0, &header, sizeof(header)));
  if (size < sizeof(header) || header > size - sizeof(header))
    return badFile(generation, listed.name(), "no .safetensors file: its header is cut off");
  data = sizeof(header) + header;
  return {};
}

Status CheckpointReader::openFiles() {
  for (const proto::Manifest::File &listed : contents.files()) {
    File &opened = files.emplace_back();
    std::error_code error;
    const bool isElsewhere =
        listed.has_node() &&
        !std::filesystem::exists(generation.path + "/" + listed.name(), error) && !error;
    if (!isElsewhere)
      ZERO_RT_TRY(openFile(listed, opened.file, opened.data));
  }
  return {};
}

/// The manifest knows how long files are, only these how long their headers are.
Status CheckpointReader::checkRanges() const {
  for (const proto::Manifest::Tensor &tensor : contents.tensors())
    for (const proto::Manifest::Range &range : tensor.ranges()) {
      const proto::Manifest::File &file = contents.files(int(range.file()));
      const uint64_t bytes = range.count() * sizeOf(toDType(tensor.dtype()));
      if (range.offset() + bytes > file.bytes() - files[range.file()].data)
        return badFile(generation, file.name(),
                       "a range of '" + escape(tensor.name()) + "' is beyond its end");
    }
  return {};
}

Status CheckpointReader::open(const Generation &generation,
                              std::shared_ptr<CheckpointReader> &reader) {
  auto made = std::make_shared<CheckpointReader>();
  made->generation = generation;
  ZERO_RT_TRY(readManifest(generation.path + "/" + kManifestName, made->contents));
  uint64_t step;
  if (parseGenerationName(generation.path, step) && step != made->contents.step())
    return badFile(generation, kManifestName,
                   "it is of step " + std::to_string(made->contents.step()));
  ZERO_RT_TRY(made->openFiles());
  ZERO_RT_TRY(made->checkRanges());
  reader = std::move(made);
  return {};
}

//===----------------------------------------------------------------------===//
// Verifying
//===----------------------------------------------------------------------===//

Status CheckpointReader::verifyFile(uint32_t index, Meter &meter) {
  const proto::Manifest::File &listed = contents.files(int(index));
  if (files[index].data == 0)
    return badFile(generation, listed.name(),
                   "not on this node: it was saved on host '" + escape(listed.node()) +
                       "'; copy it from there, or use a folder that all nodes share");
  std::vector<uint8_t> chunk(std::min(kChunk, listed.bytes()));
  uint32_t checksum = 0;
  for (uint64_t at = 0; at < listed.bytes(); at += kChunk) {
    if (failed)
      return Status(ZERO_RT_ABORTED, "another file is damaged");
    const uint64_t bytes = std::min(kChunk, listed.bytes() - at);
    ZERO_RT_TRY(files[index].file.read(at, chunk.data(), bytes));
    checksum = crc32Of({chunk.data(), bytes}, checksum);
    meter.add(bytes);
  }
  return checksum == listed.crc32()
             ? Status()
             : badFile(generation, listed.name(),
                       format("wrong checksum: expected %08x, got %08x", listed.crc32(), checksum));
}

Status CheckpointReader::verify(const std::vector<uint32_t> &needed, int part, int parts,
                                Meter &meter) {
  for (size_t i = size_t(part); i < needed.size(); i += size_t(parts))
    meter.expect(contents.files(int(needed[i])).bytes());
  for (size_t i = size_t(part); i < needed.size(); i += size_t(parts))
    if (Status status = verifyFile(needed[i], meter); !status.ok()) {
      failed = true;
      return status;
    }
  return {};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Status CheckpointReader::read(const RangeRead &range, const MemoryByTier &memory,
                              std::vector<char> &space) const {
  const File &from = files[range.file];
  const uint64_t offset = from.data + range.offset;
  const uint64_t stored = sizeOf(range.stored), size = sizeOf(range.dtype);
  auto make = [&](char *target, uint64_t done, uint64_t bytes) -> Status {
    if (range.stored == range.dtype)
      return from.file.read(offset + done, target, bytes);
    space.resize(kChunk);
    const uint64_t first = done / size, total = bytes / size;
    for (uint64_t at = 0; at < total; at += kChunk / stored) {
      const uint64_t count = std::min(kChunk / stored, total - at);
      ZERO_RT_TRY(from.file.read(offset + (first + at) * stored, space.data(), count * stored));
      convertFloats(range.stored, space.data(), range.dtype, target + at * size, count);
    }
    return {};
  };
  return memory.at(range.tier).write(range.place, range.count * size, make);
}

Status CheckpointReader::readRank(const LoadPlan &plan, int rank, const MemoryByTier &memory,
                                  Meter &meter) const {
  std::vector<char> space;
  for (const RangeRead &range : plan.ranks[size_t(rank)])
    meter.expect(range.count * sizeOf(range.dtype));
  for (const RangeRead &range : plan.ranks[size_t(rank)]) {
    ZERO_RT_TRY(read(range, memory, space));
    meter.add(range.count * sizeOf(range.dtype));
  }
  for (const RangeFill &range : plan.fills[size_t(rank)])
    ZERO_RT_TRY(memory.at(range.tier)
                    .write(range.place, range.count * sizeOf(range.dtype),
                           [&](char *target, uint64_t, uint64_t bytes) {
                             fill(range.dtype, range.value, target, bytes / sizeOf(range.dtype));
                             return Status();
                           }));
  return {};
}

} // namespace zero::rt
