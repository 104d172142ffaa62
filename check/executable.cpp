//===- executable.cpp - read executables ----------------------------------===//

#include "check/executable.h"

#include <cstring>
#include <fstream>
#include <iterator>

namespace zero::check {

static constexpr uint32_t kVersion = 13;

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

/// The checksum is left to the runtime: a proof is about the bytes that are read.
static Header checkedHeader(const std::string &path, const std::string &file) {
  Header header;
  require(file.size() >= sizeof(header) && file.compare(0, 8, "ZEROEXE\0", 8) == 0,
          "'" + path + "': not a Zero executable");
  std::memcpy(&header, file.data(), sizeof(header));
  require(header.version == kVersion && header.headerBytes == sizeof(header),
          "'" + path + "': expected version " + std::to_string(kVersion) + ", got " +
              std::to_string(header.version));
  require(header.fileBytes == file.size(),
          "'" + path + "': expected " + std::to_string(header.fileBytes) + " bytes, got " +
              std::to_string(file.size()) + "; the file is damaged");
  for (const Section &section : {header.program, header.code, header.data, header.hostCode})
    require(section.offset <= file.size() && section.size <= file.size() - section.offset,
            "'" + path + "': a section is outside of the file");
  return header;
}

/// Makes an entry for each tile of what is cut into tiles: place(entry, tile, name).
template <typename Table, typename Place>
static void divide(Table &table, Place place) {
  Table divided;
  for (const auto &whole : table)
    for (int i = 0; i < std::max(1, whole.tiles_size()); ++i) {
      auto &entry = *divided.Add() = whole;
      if (whole.tiles_size() > 0)
        place(entry, whole.tiles(i), " tile " + std::to_string(i));
      entry.clear_tiles();
    }
  table.Swap(&divided);
}

/// From here on each tile is a tensor.
static void divideTiles(proto::Program &program) {
  divide(*program.mutable_tensors(), [](proto::Tensor &tensor, auto tile, const auto &name) {
    require(int(tensor.tile_axis()) < tensor.shape_size() && !tensor.has_split(),
            "'" + tensor.name() + "' is cut into tiles along no axis, or split as well");
    tensor.mutable_shape()->Set(int(tensor.tile_axis()), tile.extent());
    tensor.set_buffer(tile.buffer());
    tensor.set_start(tile.start());
    tensor.mutable_name()->append(name);
  });
  divide(*program.mutable_gradients(), [](proto::Gradient &gradient, auto tile, const auto &name) {
    *gradient.mutable_buffer() = tile.buffer();
    gradient.set_start(tile.start());
    gradient.mutable_parameter()->append(name);
  });
}

std::vector<Executable> readExecutable(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  require(bool(stream), "'" + path + "': cannot be opened");
  const std::string file{std::istreambuf_iterator<char>(stream), {}};
  const Header header = checkedHeader(path, file);
  auto contents = [&](Section section) { return file.substr(section.offset, section.size); };
  Executable executable{{}, contents(header.code), contents(header.data), {}};
  require(executable.program.ParseFromString(contents(header.program)),
          "'" + path + "': its tables cannot be read");
  std::vector<Executable> found{executable};
  for (const proto::Program &shape : executable.program.shapes()) {
    found.push_back(executable);
    found.back().program = shape;
    *found.back().program.mutable_kernels() = executable.program.kernels();
    *found.back().program.mutable_files() = executable.program.files();
  }
  for (Executable &each : found)
    divideTiles(each.program);
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

uint64_t Executable::elementsOf(const proto::Tensor &tensor) const {
  uint64_t elements = check::elementsOf(tensor.shape());
  for (uint32_t axis : tensor.split().axes())
    elements /= program.mesh(int(axis)).size();
  return elements;
}

uint64_t bytesOf(proto::DType type) {
  static constexpr uint8_t kBytes[] = {0, 4, 8, 2, 2, 1, 1, 4, 8, 1, 2, 2, 4, 8};
  require(type > 0 && size_t(type) < sizeof(kBytes),
          [&] { return "no element type of the format: " + std::to_string(type); });
  return kBytes[type];
}

} // namespace zero::check
