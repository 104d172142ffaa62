//===- writer.cpp - write a checkpoint ------------------------------------===//

#include "runtime/checkpoint/writer.h"

#include "runtime/io/safetensors.h"
#include "runtime/support/finite.h"
#include "runtime/support/problems.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>
#include <unistd.h>

namespace zero::rt {

/// Bytes that are written and summed up at a time: the second finds them in the cache.
static constexpr uint64_t kChunk = uint64_t(1) << 20;

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

static void describe(const proto::Program &program, proto::Manifest &manifest) {
  manifest.set_program(program.name());
  manifest.set_optimizer(program.optimizer());
  manifest.set_stage(program.stage());
  manifest.set_ranks(program.ranks());
  manifest.set_micro_batches(program.micro_batches());
  *manifest.mutable_settings() = program.settings();
}

/// Tables of numbers are listed once.
void CheckpointWriter::setBlocks(const proto::Tensor::Blocks &from,
                                 proto::Manifest::Tensor &tensor) {
  auto same = [&](const proto::Manifest::Table &table) {
    return std::equal(table.numbers().begin(), table.numbers().end(), from.numbers().begin(),
                      from.numbers().end());
  };
  const auto &tables = manifest.tables();
  const auto table = std::find_if(tables.begin(), tables.end(), same) - tables.begin();
  if (table == tables.size())
    *manifest.add_tables()->mutable_numbers() = from.numbers();
  proto::Manifest::Tensor::Blocks &blocks = *tensor.mutable_blocks();
  blocks.set_bits(from.bits());
  blocks.set_size(from.size());
  blocks.set_scales(from.scales());
  blocks.set_table(uint32_t(table));
  *blocks.mutable_shape() = from.shape();
  blocks.set_dtype(from.dtype());
}

void CheckpointWriter::listTensors(const SavingNodes &nodes) {
  std::vector<proto::Manifest::Tensor *> listed(state.size());
  for (size_t i = 0; i < state.size(); ++i) {
    const StateTensor &each = state[i];
    if (each.derived)
      continue;
    proto::Manifest::Tensor *tensor = listed[i] = manifest.add_tensors();
    tensor->set_name(each.name);
    // A master is saved as the parameter that it is the value of.
    tensor->set_role(each.tensor->master() ? proto::PARAMETER : each.tensor->role());
    tensor->set_dtype(each.tensor->dtype());
    tensor->mutable_shape()->Assign(each.shape.begin(), each.shape.end());
    if (!each.tensor->master())
      tensor->set_of(each.tensor->of());
    if (each.tensor->has_blocks())
      setBlocks(each.tensor->blocks(), *tensor);
  }
  for (size_t rank = 0; rank < pieces.size(); ++rank) {
    const int node = nodes.ofRank.empty() ? 0 : nodes.ofRank[rank];
    for (const Piece &piece : pieces[rank]) {
      if (!nodes.ofRank.empty() && nodes.nearestCopy(blockOf(piece), int(rank)) != node)
        continue; // a nearer node has a copy
      proto::Manifest::Range *range = listed[piece.tensor]->add_ranges();
      const Selection elements = blockOf(piece).elementsOf(int(rank));
      range->set_file(uint32_t(rank));
      range->set_begin(elements.isDense() ? elements.at(0) + piece.begin : piece.begin);
      range->set_count(piece.count);
      range->set_offset(piece.offset);
      if (!elements.isDense())
        setCuts(elements.cuts(), *range);
    }
  }
}

int SavingNodes::nearestCopy(const Block &block, int rank) const {
  const RankGroup copies(block.mesh, block.copyAxes(), rank);
  int first = ofRank[size_t(copies.rankAt(0))];
  for (int copy : copies.ranks())
    first = ofRank[size_t(copy)] == own ? own : first;
  return first;
}

Status CheckpointWriter::plan(const proto::Program &program, proto::Manifest about,
                              const SavingNodes &nodes) {
  ZERO_RT_TRY(listState(program, state));
  pieces = divideState(state, int(program.ranks()), nodes.ofRank);
  manifest = std::move(about);
  describe(program, manifest);
  manifest.set_precision(precisionOf(state));
  for (size_t rank = 0; rank < pieces.size(); ++rank) {
    proto::Manifest::File *file = manifest.add_files();
    file->set_name(shardName(int(rank)));
    if (!nodes.ofRank.empty())
      file->set_node(nodes.hosts[size_t(nodes.ofRank[rank])]);
  }
  listTensors(nodes);
  return {};
}

Status CheckpointWriter::create(const proto::Program &program, const std::string &folder,
                                proto::Manifest about, const SavingNodes &nodes,
                                std::unique_ptr<CheckpointWriter> &writer) {
  auto made = std::make_unique<CheckpointWriter>();
  ZERO_RT_TRY(made->plan(program, std::move(about), nodes));
  ZERO_RT_TRY(Draft::create(folder, made->manifest.step(), made->draft));
  made->folder = made->draft.path();
  writer = std::move(made);
  return {};
}

Status CheckpointWriter::join(const proto::Program &program, const std::string &path,
                              proto::Manifest about, const SavingNodes &nodes,
                              std::unique_ptr<CheckpointWriter> &writer) {
  auto made = std::make_unique<CheckpointWriter>();
  ZERO_RT_TRY(made->plan(program, std::move(about), nodes));
  made->folder = path;
  writer = std::move(made);
  return {};
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

const Block &CheckpointWriter::blockOf(const Piece &piece) const {
  return state[piece.tensor].blocks[piece.block];
}

/// A part is an array of one dimension. A full tensor has its shape.
std::string CheckpointWriter::headerOf(int rank) const {
  std::set<std::string> names = {"__metadata__"};
  std::vector<TensorEntry> entries;
  for (const Piece &piece : pieces[size_t(rank)]) {
    const StateTensor &tensor = state[piece.tensor];
    TensorEntry entry{tensor.name, tensor.dtype(), tensor.shape, {}};
    if (piece.count < tensor.elements) {
      const Selection elements = blockOf(piece).elementsOf(rank);
      const uint64_t begin = piece.begin + (elements.isDense() ? elements.at(0) : 0);
      if (!elements.isDense())
        entry.name += format("/%zu", piece.block);
      entry.name += format("[%llu:%llu]", static_cast<unsigned long long>(begin),
                           static_cast<unsigned long long>(begin + piece.count));
      entry.shape = {piece.count};
    }
    while (!names.insert(entry.name).second)
      entry.name += "'"; // a model may call a tensor as a part of another is called
    entries.push_back(std::move(entry));
  }
  return safetensorsHeader(
      entries, {{"format", "part of a checkpoint of Zero: " + std::string(kManifestName) +
                               " says which tensor each range of bytes belongs to"},
                {"parts", "NAME[A:B] is elements A to B - 1 of NAME, row-major; of its block "
                          "I where it is called NAME/I"},
                {"rank", std::to_string(rank) + " of " + std::to_string(pieces.size())},
                {"step", std::to_string(manifest.step())}});
}

/// Fails if `bytes` of `tensor`, which an optimizer changes, are not finite.
static Status checkFinite(const StateTensor &tensor, const char *values, uint64_t bytes) {
  if (!persistenceOf(*tensor.tensor).trained)
    return {};
  const uint64_t count = bytes / sizeOf(tensor.dtype());
  return findNonFinite(tensor.dtype(), values, count) == count
             ? Status()
             : fail(ZERO_RT_NOT_FINITE,
                    "%s is not finite: a checkpoint of it would only resume a failed run",
                    quoted(tensor.name).c_str());
}

uint64_t CheckpointWriter::bytesOf(const Piece &piece) const {
  return piece.count * sizeOf(state[piece.tensor].dtype());
}

Status CheckpointWriter::writeShard(int rank, const Read &read, Meter &meter) {
  for (const Piece &piece : pieces[size_t(rank)])
    meter.expect(bytesOf(piece));
  OutputFile file;
  ZERO_RT_TRY(OutputFile::createInTemporary(folder + "/" + shardName(rank), file));
  uint64_t bytes = 0;
  uint32_t checksum = 0;
  auto put = [&](const char *data, uint64_t size, const StateTensor *tensor) -> Status {
    for (uint64_t at = 0; at < size; at += kChunk) {
      const uint64_t chunk = std::min(kChunk, size - at);
      if (failed)
        return fail(ZERO_RT_ABORTED, "rank %d: another rank could not write", rank);
      if (tensor)
        ZERO_RT_TRY(checkFinite(*tensor, data + at, chunk));
      checksum = crc32Of({reinterpret_cast<const uint8_t *>(data) + at, chunk}, checksum);
      ZERO_RT_TRY(file.write(data + at, chunk));
      meter.add(chunk);
    }
    bytes += size;
    return {};
  };
  const std::string header = headerOf(rank);
  meter.expect(header.size());
  ZERO_RT_TRY(put(header.data(), header.size(), nullptr));
  for (const Piece &piece : pieces[size_t(rank)])
    ZERO_RT_TRY(read(piece, [&](const char *part, uint64_t, uint64_t size) {
      return put(part, size, &state[piece.tensor]);
    }));
  ZERO_RT_TRY(file.commit());
  this->file(rank).set_bytes(bytes);
  this->file(rank).set_crc32(checksum);
  return {};
}

Status CheckpointWriter::writeRank(int rank, const Read &read, Meter &meter) {
  Status status = writeShard(rank, read, meter);
  if (!status.ok())
    failed = true;
  return status;
}

Status CheckpointWriter::readPiece(const MemoryByTier &memory, const Piece &piece,
                                   const Memory::Piece &use) const {
  return memory.at(blockOf(piece).buffer->tier()).read(piece.place, bytesOf(piece), use);
}

Status CheckpointWriter::writeRank(int rank, const MemoryByTier &memory, Meter &meter) {
  const Read read = [&](const Piece &piece, const Memory::Piece &use) {
    return readPiece(memory, piece, use);
  };
  return writeRank(rank, read, meter);
}

Status CheckpointWriter::writeRank(int rank, const StateCopy &copy, Meter &meter) {
  const Read read = [&](const Piece &piece, const Memory::Piece &use) {
    return use(copy.data() + piece.offset, 0, bytesOf(piece));
  };
  return writeRank(rank, read, meter);
}

//===----------------------------------------------------------------------===//
// Entries of other processes
//===----------------------------------------------------------------------===//

std::string CheckpointWriter::entryPath(int rank) const {
  return folder + "/" + shardName(rank) + ".entry";
}

Status CheckpointWriter::leaveEntries(int first, int count) {
  for (int rank = first; rank < first + count; ++rank) {
    OutputFile entry; // has its name when it is complete
    ZERO_RT_TRY(OutputFile::create(entryPath(rank), entry));
    ZERO_RT_TRY(entry.write(file(rank).SerializeAsString()));
    ZERO_RT_TRY(entry.commit());
  }
  return {};
}

/// Takes the entry of `rank` out of the draft, if it is there.
Status CheckpointWriter::takeEntry(int rank, bool &isThere) {
  const std::string path = entryPath(rank);
  isThere = ::access(path.c_str(), F_OK) == 0;
  if (!isThere)
    return {};
  InputFile entry;
  ZERO_RT_TRY(InputFile::open(path, entry));
  std::string text(entry.size(), '\0');
  ZERO_RT_TRY(entry.read(0, text.data(), text.size()));
  if (!file(rank).ParseFromString(text) || ::unlink(path.c_str()) != 0)
    return fail(ZERO_RT_IO, "cannot read and remove '%s'", escape(path).c_str());
  return {};
}

Status CheckpointWriter::awaitEntries() {
  constexpr std::chrono::milliseconds kPause(5);
  for (int rank = 0; rank < int(pieces.size()); ++rank)
    for (bool isThere = false; !isThere;) {
      if (failed)
        return fail(ZERO_RT_ABORTED, "another process could not write");
      ZERO_RT_TRY(takeEntry(rank, isThere));
      if (!isThere)
        std::this_thread::sleep_for(kPause);
    }
  return {};
}

//===----------------------------------------------------------------------===//
// Copying
//===----------------------------------------------------------------------===//

void StateCopy::reserve(uint64_t size) {
  if (size <= capacity)
    return;
  bytes = std::make_unique_for_overwrite<char[]>(size);
  capacity = size;
}

Status CheckpointWriter::copyRank(int rank, const MemoryByTier &memory, StateCopy &copy) const {
  const std::vector<Piece> &own = pieces[size_t(rank)];
  if (own.empty())
    return {};
  copy.reserve(own.back().offset + bytesOf(own.back()));
  for (const Piece &piece : own)
    ZERO_RT_TRY(readPiece(memory, piece, [&](const char *part, uint64_t done, uint64_t size) {
      std::memcpy(copy.data() + piece.offset + done, part, size);
      return Status();
    }));
  return {};
}

} // namespace zero::rt
