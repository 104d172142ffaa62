//===- state_table.cpp - the state of a program ---------------------------===//

#include "runtime/checkpoint/state_table.h"

#include "runtime/support/problems.h"

#include <algorithm>
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
    if (persistenceOf(tensor).resumed)
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
/// Gives each rank its part of one block after the other. Ranks that hold the same divide it. The
/// bytes that a rank holds together with the same other ranks form one list.
class Divider {
public:
  Divider(const std::vector<StateTensor> &state, int ranks, const std::vector<int> &nodes)
      : state(state), nodes(nodes), pieces(static_cast<size_t>(ranks)), lists(pieces.size()) {
    forEachPartHeld([&](size_t, size_t, const Block &block, size_t rank, const Part &part) {
      lists[rank][block.copyAxes()].bytes += part.count * sizeOf(toDType(block.buffer->dtype()));
    });
    for (size_t rank = 0; rank < lists.size(); ++rank)
      for (auto &[axes, list] : lists[rank])
        share(axes, int(rank), list);
  }

  std::vector<std::vector<Piece>> run() {
    forEachPartHeld([&](size_t tensor, size_t index, const Block &block, size_t rank, Part part) {
      divide(tensor, index, block, rank, part);
    });
    return std::move(pieces);
  }

private:
  /// What a rank holds together with the ranks that differ along some axes only.
  struct List {
    uint64_t bytes = 0;
    uint64_t begin = 0, end = 0; ///< the bytes that this rank writes
    uint64_t before = 0;         ///< up to the block in progress
  };

  template <typename Body>
  void forEachPartHeld(Body body) const {
    for (size_t i = 0; i < state.size(); ++i)
      for (size_t j = 0; j < state[i].blocks.size() && !state[i].derived; ++j)
        for (size_t rank = 0; rank < pieces.size(); ++rank)
          body(i, j, state[i].blocks[j], rank, state[i].blocks[j].partOf(int(rank)));
  }

  /// Divides the list evenly among the ranks that have it, or those of each node.
  void share(AxisSet axes, int rank, List &list) const {
    uint64_t place = 0, count = 0;
    const RankGroup copies(meshOfState(), axes, rank);
    for (int copy : copies.ranks())
      if (nodes.empty() || nodes[size_t(copy)] == nodes[size_t(rank)]) {
        place += copy < rank;
        ++count;
      }
    auto cut = [&](uint64_t at) {
      return uint64_t(static_cast<unsigned __int128>(list.bytes) * at / count);
    };
    list.begin = cut(place), list.end = cut(place + 1);
  }

  const Mesh &meshOfState() const {
    const auto known = std::ranges::find_if(state, [](auto &each) { return !each.blocks.empty(); });
    return known->blocks.front().mesh;
  }

  void divide(size_t tensor, size_t index, const Block &block, size_t rank, const Part &part) {
    const uint64_t size = sizeOf(state[tensor].dtype());
    List &list = lists[rank][block.copyAxes()];
    const uint64_t first = elementsBefore(list.begin, list.before, part.count, size);
    const uint64_t end = elementsBefore(list.end, list.before, part.count, size);
    if (first < end)
      pieces[rank].push_back({tensor, index, part.inTensor + first, end - first,
                              state[tensor].place(block, int(rank), part.inBuffer + first), 0});
    list.before += part.count * size;
  }

  const std::vector<StateTensor> &state;
  const std::vector<int> &nodes;
  std::vector<std::vector<Piece>> pieces;
  std::vector<std::map<AxisSet, List>> lists; ///< by rank
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
