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

std::vector<Executable> readExecutable(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  require(bool(stream), "'" + path + "': cannot be opened");
  const std::string file{std::istreambuf_iterator<char>(stream), {}};
  const Header header = checkedHeader(path, file);
  auto contents = [&](Section section) { return file.substr(section.offset, section.size); };
  Executable executable{path, {}, contents(header.code), contents(header.data)};
  require(executable.program.ParseFromString(contents(header.program)),
          "'" + path + "': its tables cannot be read");
  std::vector<Executable> found{executable};
  for (const proto::Program &shape : executable.program.shapes()) {
    found.push_back(executable);
    found.back().program = shape;
    *found.back().program.mutable_kernels() = executable.program.kernels();
    *found.back().program.mutable_files() = executable.program.files();
  }
  return found;
}

std::string Executable::dataOf(const proto::Tensor &tensor) const {
  const proto::Init::Range &range = tensor.init().data();
  require(range.offset() <= data.size() && range.bytes() <= data.size() - range.offset(),
          "'" + tensor.name() + "' is outside of the data section");
  return data.substr(range.offset(), range.bytes());
}

int64_t Executable::coordinateOf(int rank, int axis) const {
  for (int inner = program.mesh_size(); --inner > axis;)
    rank /= int(program.mesh(inner).size());
  return rank % int(program.mesh(axis).size());
}

int Executable::indexOf(int rank, const std::vector<uint32_t> &axes) const {
  int64_t index = 0;
  for (uint32_t axis : axes)
    index = index * program.mesh(int(axis)).size() + coordinateOf(rank, int(axis));
  return int(index);
}

int64_t Executable::placeOf(uint64_t offset, const Strides &strides, int rank) const {
  for (int axis = 0; axis < strides.size(); ++axis)
    offset += uint64_t(strides[axis]) * uint64_t(coordinateOf(rank, axis));
  return int64_t(offset);
}

uint32_t Executable::dataAxes() const {
  uint32_t axes = 0;
  for (uint32_t axis : program.data_axes())
    axes |= 1u << axis;
  return axes;
}

uint64_t bytesOf(proto::DType type) {
  static constexpr uint8_t kBytes[] = {0, 4, 8, 2, 2, 1, 1, 4, 8, 1, 2, 2, 4, 8};
  require(type > 0 && size_t(type) < sizeof(kBytes),
          [&] { return "no element type of the format: " + std::to_string(type); });
  return kBytes[type];
}

} // namespace zero::check
