//===- executable.cpp - read executables ----------------------------------===//

#include "check/executable.h"

#include "check/refusal.h"

#include <cstring>
#include <fstream>
#include <iterator>

namespace zero::check {

static constexpr uint32_t kVersion = 12;

namespace {
struct Section {
  uint64_t offset, size;
};
/// The first bytes of the file, in its byte order.
struct Header {
  char magic[8];
  uint32_t version, headerBytes;
  uint64_t checksum, fileBytes;
  Section program, code, data, hostCode;
  char features[2048];
};
} // namespace

static uint64_t mix(uint64_t state, uint64_t word) {
  state = (state ^ word) * 0x9e3779b97f4a7c15ull;
  return state ^ (state >> 29);
}

/// The file's checksum, in four lanes of words of 8 bytes; `seed` is that of what is before.
static uint64_t checksum(std::string_view bytes, uint64_t seed) {
  uint64_t lanes[4] = {seed, seed + 1, seed + 2, seed + 3};
  size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32)
    for (size_t lane = 0; lane < 4; ++lane) {
      uint64_t word;
      std::memcpy(&word, bytes.data() + at + 8 * lane, 8);
      lanes[lane] = mix(lanes[lane], word);
    }
  uint64_t state = mix(seed, bytes.size());
  for (uint64_t lane : lanes)
    state = mix(state, lane);
  for (; at < bytes.size(); ++at)
    state = mix(state, uint8_t(bytes[at]));
  return state;
}

static uint64_t checksumOf(const std::string &file) {
  Header header;
  std::memcpy(&header, file.data(), sizeof(header));
  header.checksum = 0;
  const std::string_view start(reinterpret_cast<const char *>(&header), sizeof(header));
  return checksum(std::string_view(file).substr(sizeof(header)), checksum(start, 0));
}

static std::string readFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  require(bool(stream), "'" + path + "': cannot be opened");
  return {std::istreambuf_iterator<char>(stream), {}};
}

static Header checkedHeader(const std::string &path, const std::string &file) {
  Header header;
  require(file.size() >= sizeof(header) && file.compare(0, 8, "ZEROEXE\0", 8) == 0,
          "'" + path + "': not a Zero executable");
  std::memcpy(&header, file.data(), sizeof(header));
  require(header.version == kVersion && header.headerBytes == sizeof(header),
          "'" + path + "': expected version " + std::to_string(kVersion) + ", got " +
              std::to_string(header.version));
  require(header.fileBytes == file.size() && header.checksum == checksumOf(file),
          "'" + path + "': wrong size or checksum; the file is damaged");
  for (const Section &section : {header.program, header.code, header.data, header.hostCode})
    require(section.offset <= file.size() && section.size <= file.size() - section.offset,
            "'" + path + "': a section is outside of the file");
  return header;
}

Executable readExecutable(const std::string &path) {
  const std::string file = readFile(path);
  const Header header = checkedHeader(path, file);
  auto contents = [&](Section section) { return file.substr(section.offset, section.size); };
  Executable executable{path, {}, contents(header.code), contents(header.data)};
  require(executable.program.ParseFromString(contents(header.program)),
          "'" + path + "': its tables cannot be read");
  return executable;
}

Coordinates Executable::coordinatesOf(int rank) const {
  Coordinates coordinates(size_t(program.mesh_size()));
  for (int axis = program.mesh_size(); axis-- > 0;) {
    const int size = int(program.mesh(axis).size());
    coordinates[size_t(axis)] = rank % size;
    rank /= size;
  }
  return coordinates;
}

int64_t Executable::placeOf(uint64_t offset,
                            const google::protobuf::RepeatedField<int64_t> &strides,
                            int rank) const {
  for (int axis = strides.size(); axis-- > 0;) {
    const int size = int(program.mesh(axis).size());
    offset += uint64_t(strides[axis]) * uint64_t(rank % size);
    rank /= size;
  }
  return int64_t(offset);
}

int Executable::dataIndexOf(int rank) const {
  const Coordinates coordinates = coordinatesOf(rank);
  int64_t index = 0;
  for (uint32_t axis : program.data_axes())
    index = index * program.mesh(int(axis)).size() + coordinates.at(axis);
  return int(index);
}

uint64_t bytesOf(proto::DType type) {
  switch (type) {
  case proto::I1:
  case proto::I8:
  case proto::U8:
    return 1;
  case proto::F16:
  case proto::BF16:
  case proto::I16:
  case proto::U16:
    return 2;
  case proto::F32:
  case proto::I32:
  case proto::U32:
    return 4;
  case proto::F64:
  case proto::I64:
  case proto::U64:
    return 8;
  default:
    throw Refusal("an element type that the format does not have: " + std::to_string(type));
  }
}

} // namespace zero::check
