//===- reader.cpp - read a checkpoint -------------------------------------===//

#include "runtime/checkpoint/reader.h"

#include "runtime/support/floats.h"

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

Status CheckpointReader::openFiles() {
  for (const proto::Manifest::File &listed : contents.files()) {
    File &opened = files.emplace_back();
    uint64_t header = 0;
    ZERO_RT_TRY(InputFile::open(generation.path + "/" + listed.name(), opened.file));
    const uint64_t size = opened.file.size();
    if (size != listed.bytes())
      return badFile(generation, listed.name(),
                     format("%s: expected %llu bytes, got %llu",
                            size < listed.bytes() ? "truncated" : "wrong size",
                            static_cast<unsigned long long>(listed.bytes()),
                            static_cast<unsigned long long>(size)));
    if (size >= sizeof(header))
      ZERO_RT_TRY(opened.file.read(0, &header, sizeof(header)));
    if (size < sizeof(header) || header > size - sizeof(header))
      return badFile(generation, listed.name(), "no .safetensors file: its header is cut off");
    opened.data = sizeof(header) + header;
  }
  return {};
}

/// The manifest knows how long files are, only these how long their headers are.
static Status checkRanges(const Generation &generation, const proto::Manifest &manifest,
                          const std::function<uint64_t(uint32_t)> &headerBytes) {
  for (const proto::Manifest::Tensor &tensor : manifest.tensors())
    for (const proto::Manifest::Range &range : tensor.ranges()) {
      const proto::Manifest::File &file = manifest.files(int(range.file()));
      const uint64_t bytes = range.count() * sizeOf(toDType(tensor.dtype()));
      if (range.offset() + bytes > file.bytes() - headerBytes(range.file()))
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
  ZERO_RT_TRY(checkRanges(generation, made->contents,
                          [&](uint32_t file) { return made->files[file].data; }));
  reader = std::move(made);
  return {};
}

//===----------------------------------------------------------------------===//
// Verifying
//===----------------------------------------------------------------------===//

Status CheckpointReader::verifyFile(size_t index, Meter &meter) {
  const proto::Manifest::File &listed = contents.files(int(index));
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

Status CheckpointReader::verify(int part, int parts, Meter &meter) {
  for (size_t file = size_t(part); file < files.size(); file += size_t(parts))
    meter.expect(contents.files(int(file)).bytes());
  for (size_t file = size_t(part); file < files.size(); file += size_t(parts))
    if (Status status = verifyFile(file, meter); !status.ok()) {
      failed = true;
      return status;
    }
  return {};
}

Status openNewest(const std::string &path,
                  const std::function<Status(std::shared_ptr<CheckpointReader>)> &verify,
                  std::shared_ptr<CheckpointReader> &reader, std::vector<Damage> &damaged) {
  std::vector<Generation> generations;
  ZERO_RT_TRY(findGenerations(path, generations));
  for (const Generation &generation : generations) {
    std::shared_ptr<CheckpointReader> tried;
    Status status = CheckpointReader::open(generation, tried);
    if (status.ok())
      status = verify(tried);
    if (status.ok()) {
      reader = std::move(tried);
      return {};
    }
    // Another version is not damage, and neither is lack of memory.
    if (status.getCode() != ZERO_RT_BAD_FILE && status.getCode() != ZERO_RT_IO)
      return status;
    damaged.push_back({generation.path, status.getMessage()});
  }
  std::string all;
  for (const Damage &each : damaged)
    all += (all.empty() ? "" : "; ") + each.what;
  return fail(ZERO_RT_BAD_FILE, "no complete checkpoint in '%s': %s", escape(path).c_str(),
              all.c_str());
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
  return {};
}

} // namespace zero::rt
