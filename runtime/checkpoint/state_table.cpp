//===- state_table.cpp - the state of a program ---------------------------===//

#include "runtime/checkpoint/state_table.h"

#include "runtime/support/problems.h"

#include <map>
#include <set>

namespace zero::rt {

static StateTensor stateOf(const proto::Program &program, const proto::Tensor &tensor) {
  StateTensor state;
  state.tensor = &tensor;
  state.blocks = blocksOf(program, tensor);
  state.name = tensor.name();
  auto shape = shapeOf(tensor.shape());
  state.shape.assign(shape.begin(), shape.end());
  state.elements = elementsOf(tensor.shape());
  return state;
}

Status listState(const proto::Program &program, std::vector<StateTensor> &state) {
  std::map<std::string, StateTensor *> parameters;
  state.clear();
  for (const proto::Tensor &tensor : program.tensors())
    // A constant that a run was given is in no file that the program names.
    if (tensor.role() != proto::CONSTANT || tensor.init().required())
      state.push_back(stateOf(program, tensor));
  for (StateTensor &each : state)
    if (each.tensor->role() == proto::PARAMETER)
      parameters[each.name] = &each;
  for (StateTensor &each : state) {
    if (!each.tensor->master())
      continue;
    auto it = parameters.find(each.tensor->of());
    if (it == parameters.end() || it->second->elements != each.elements || it->second->derived)
      return fail(ZERO_RT_BAD_FILE, "tensor %s: no parameter has it as its master",
                  quoted(each.name).c_str());
    it->second->derived = true;
    each.name = it->second->name;
    each.shape = it->second->shape;
  }
  std::set<std::string> names;
  for (const StateTensor &each : state)
    if (!each.derived && !names.insert(each.name).second)
      return fail(ZERO_RT_BAD_FILE, "tensor %s occurs twice", quoted(each.name).c_str());
  return {};
}

bool isLossScale(const std::string &name) { return name.starts_with("loss_scale"); }

proto::DType precisionOf(const std::vector<StateTensor> &state) {
  for (const StateTensor &each : state)
    if (each.derived)
      return each.tensor->dtype();
  return proto::F32;
}

/// The elements of `size` bytes that begin before byte `end` of a list in which the
/// tensor of `count` of them begins at byte `begin`.
static uint64_t elementsBefore(uint64_t end, uint64_t begin, uint64_t count, uint64_t size) {
  return end <= begin ? 0 : std::min(count, (end - begin + size - 1) / size);
}

namespace {
/// Gives each rank its part of one block after the other.
class Divider {
public:
  Divider(const std::vector<StateTensor> &state, int ranks, const std::vector<int> &nodes)
      : state(state), pieces(static_cast<size_t>(ranks)), shares(pieces.size()) {
    uint64_t replicated = 0;
    for (const StateTensor &each : state)
      for (const Block &block : each.blocks)
        if (!each.derived && block.buffer->shards() == 1)
          replicated += block.count * sizeOf(each.dtype());
    share(replicated, nodes.empty() ? std::vector<int>(pieces.size()) : nodes);
  }

  std::vector<std::vector<Piece>> run() {
    for (size_t i = 0; i < state.size(); ++i)
      for (size_t j = 0; j < state[i].blocks.size() && !state[i].derived; ++j)
        divide(i, j);
    return std::move(pieces);
  }

private:
  /// [begin, end) in the list of replicated bytes.
  struct Share {
    uint64_t begin = 0, end = 0;
  };

  /// Divides the list evenly among the ranks of each node.
  void share(uint64_t replicated, const std::vector<int> &nodes) {
    std::map<int, std::vector<size_t>> ranksOf;
    for (size_t rank = 0; rank < nodes.size(); ++rank)
      ranksOf[nodes[rank]].push_back(rank);
    for (const auto &[node, ranks] : ranksOf)
      for (size_t i = 0; i < ranks.size(); ++i) {
        auto cut = [&](size_t place) {
          return uint64_t(static_cast<unsigned __int128>(replicated) * place / ranks.size());
        };
        shares[ranks[i]] = {cut(i), cut(i + 1)};
      }
  }

  void divide(size_t tensor, size_t index) {
    const StateTensor &each = state[tensor];
    const Block &block = each.blocks[index];
    const uint64_t size = sizeOf(each.dtype());
    for (size_t rank = 0; rank < pieces.size(); ++rank) {
      Part part = partOf(block.mesh, *block.buffer, block.start, block.count, int(rank));
      if (block.buffer->shards() == 1) {
        const auto [begin, end] = shares[rank];
        part.inTensor = elementsBefore(begin, before, block.count, size);
        part.count = elementsBefore(end, before, block.count, size) - part.inTensor;
        part.inBuffer = block.start + part.inTensor;
      }
      if (part.count > 0)
        pieces[rank].push_back({tensor, index, part.inTensor, part.count,
                                each.place(block, int(rank), part.inBuffer), 0});
    }
    if (block.buffer->shards() == 1)
      before += block.count * size;
  }

  const std::vector<StateTensor> &state;
  std::vector<std::vector<Piece>> pieces;
  std::vector<Share> shares; ///< by rank
  uint64_t before = 0;       ///< bytes of replicas up to this block
};
} // namespace

std::vector<std::vector<Piece>> divideState(const std::vector<StateTensor> &state, int ranks,
                                            const std::vector<int> &nodes) {
  std::vector<std::vector<Piece>> pieces = Divider(state, ranks, nodes).run();
  for (std::vector<Piece> &mine : pieces) {
    auto size = [&](const Piece &piece) { return sizeOf(state[piece.tensor].dtype()); };
    std::sort(mine.begin(), mine.end(), [&](const Piece &left, const Piece &right) {
      return size(left) != size(right)
                 ? size(left) > size(right)
                 : std::pair(left.tensor, left.block) < std::pair(right.tensor, right.block);
    });
    uint64_t offset = 0;
    for (Piece &piece : mine) {
      piece.offset = offset;
      offset += piece.count * size(piece);
    }
  }
  return pieces;
}

} // namespace zero::rt
