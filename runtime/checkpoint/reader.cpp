//===- reader.cpp - read a checkpoint -------------------------------------===//

#include "runtime/checkpoint/reader.h"

#include "runtime/checkpoint/manifest.h"
#include "runtime/format/coded_parameter.h"
#include "runtime/support/floats.h"

#include <algorithm>
#include <cstring>
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

/// Elements [begin, begin + count) of `size` bytes, which the runs have.
Status CheckpointReader::readRuns(const std::vector<SavedRun> &runs, uint64_t size, uint64_t begin,
                                  uint64_t count, char *target) const {
  auto run =
      std::upper_bound(runs.begin(), runs.end(), begin, [](uint64_t at, const SavedRun &each) {
        return at < each.begin + each.count;
      });
  for (uint64_t done = 0; done < count; ++run) {
    const uint64_t skip = begin + done - run->begin;
    const uint64_t now = std::min(run->count - skip, count - done);
    const File &from = files[run->file];
    ZERO_RT_TRY(
        from.file.read(from.data + run->offset + skip * size, target + done * size, now * size));
    done += now;
  }
  return {};
}

/// Elements [begin, begin + count) as f32, decoded. Of codes whole blocks are read.
Status CheckpointReader::readElements(const LoadPlan &plan, const SavedSource &source,
                                      uint64_t begin, uint64_t count,
                                      std::vector<float> &elements) const {
  const Codes &codes = source.codes;
  if (!codes.any()) {
    elements.resize(count);
    std::vector<char> bytes(count * sizeOf(source.dtype));
    ZERO_RT_TRY(readRuns(source.values, sizeOf(source.dtype), begin, count, bytes.data()));
    convertFloats(source.dtype, bytes.data(), ZERO_RT_F32, elements.data(), count);
    return {};
  }
  auto readCodes = [&](uint64_t from, uint64_t number, uint8_t *bytes) {
    return readRuns(source.values, 1, from, number, reinterpret_cast<char *>(bytes));
  };
  auto readScales = [&](uint64_t from, uint64_t number, std::vector<float> &scales) {
    if (source.codedScales)
      return readElements(plan, plan.sources[*source.codedScales], from, number, scales);
    scales.resize(number);
    return readRuns(source.scales, sizeof(float), from, number,
                    reinterpret_cast<char *>(scales.data()));
  };
  return decodeRange(codes, source.elements, source.hasMean, begin, count, readCodes, readScales,
                     elements);
}

/// Writes all of `bytes`.
static Status put(Memory &memory, uint64_t place, const void *bytes, uint64_t count) {
  return memory.write(place, count, [&](char *target, uint64_t done, uint64_t now) {
    std::memcpy(target, static_cast<const char *>(bytes) + done, now);
    return Status();
  });
}

Status CheckpointReader::convert(const LoadPlan &plan, const RangeConvert &range,
                                 const MemoryByTier &memory) const {
  // Whole blocks of either side.
  const uint64_t chunk = kLargestBlock * (range.codes ? range.codes->size : 1);
  std::vector<float> elements, scales;
  std::vector<char> bytes;
  for (uint64_t done = 0; done < range.count; done += chunk) {
    const uint64_t count = std::min(chunk, range.count - done);
    ZERO_RT_TRY(
        readElements(plan, plan.sources[range.source], range.begin + done, count, elements));
    if (!range.codes) {
      bytes.resize(count * sizeOf(range.dtype));
      convertFloats(ZERO_RT_F32, elements.data(), range.dtype, bytes.data(), count);
      ZERO_RT_TRY(put(memory.at(range.tier), range.place + done * sizeOf(range.dtype), bytes.data(),
                      bytes.size()));
      continue;
    }
    const BlockEncoder encoder(*range.codes);
    const Codes &codes = encoder.codes();
    bytes.resize(count / codes.perByte());
    scales.resize(count / codes.size);
    encoder.encode(elements.data(), count, reinterpret_cast<uint8_t *>(bytes.data()),
                   scales.data());
    ZERO_RT_TRY(put(memory.at(range.tier), range.place + done / codes.perByte(), bytes.data(),
                    bytes.size()));
    ZERO_RT_TRY(put(memory.at(range.scalesTier),
                    range.scalesPlace + done / codes.size * sizeof(float), scales.data(),
                    scales.size() * sizeof(float)));
  }
  return {};
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
  for (const RangeConvert &range : plan.converts[size_t(rank)])
    ZERO_RT_TRY(convert(plan, range, memory));
  for (const EncodedLoad &load : plan.encodes)
    ZERO_RT_TRY(encodeParameter(*plan.program, *load.tensor, rank, memory,
                                [&](uint64_t begin, uint64_t count, float *target) {
                                  std::vector<float> elements;
                                  ZERO_RT_TRY(readElements(plan, plan.sources[load.source], begin,
                                                           count, elements));
                                  std::copy(elements.begin(), elements.end(), target);
                                  return Status();
                                }));
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
