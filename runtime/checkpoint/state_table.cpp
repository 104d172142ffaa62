//===- state_table.cpp - what of a program is state -----------------------===//

#include "runtime/checkpoint/state_table.h"

#include "runtime/support/problems.h"

#include <map>
#include <set>

namespace zero::rt {

static StateTensor stateOf(const proto::Program &program, const proto::Tensor &tensor) {
  StateTensor state;
  state.tensor = &tensor;
  state.buffer = &program.buffers(int(tensor.buffer()));
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
    if (tensor.role() != proto::CONSTANT)
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
      return fail(ZERO_RT_BAD_FILE, "tensor %s is there twice", quoted(each.name).c_str());
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

std::vector<std::vector<Piece>> divideState(const std::vector<StateTensor> &state, int ranks) {
  uint64_t replicated = 0, before = 0;
  for (const StateTensor &each : state)
    if (!each.derived && each.buffer->shards() == 1)
      replicated += each.elements * sizeOf(each.dtype());
  auto cut = [&](int rank) { // of the list of replicated bytes
    return uint64_t(static_cast<unsigned __int128>(replicated) * unsigned(rank) / unsigned(ranks));
  };
  std::vector<std::vector<Piece>> pieces(static_cast<size_t>(ranks));
  for (size_t i = 0; i < state.size(); ++i) {
    const StateTensor &each = state[i];
    const uint64_t start = each.tensor->start(), size = sizeOf(each.dtype());
    for (int rank = 0; rank < ranks && !each.derived; ++rank) {
      Part part = partOf(*each.buffer, start, each.elements, rank);
      if (each.buffer->shards() == 1) {
        part.inTensor = elementsBefore(cut(rank), before, each.elements, size);
        part.count = elementsBefore(cut(rank + 1), before, each.elements, size) - part.inTensor;
        part.inBuffer = start + part.inTensor;
      }
      if (part.count > 0)
        pieces[size_t(rank)].push_back(
            {i, part.inTensor, part.count, each.place(rank, part.inBuffer), 0});
    }
    if (!each.derived && each.buffer->shards() == 1)
      before += each.elements * size;
  }
  for (std::vector<Piece> &mine : pieces) {
    auto size = [&](const Piece &piece) { return sizeOf(state[piece.tensor].dtype()); };
    std::sort(mine.begin(), mine.end(), [&](const Piece &left, const Piece &right) {
      return size(left) != size(right) ? size(left) > size(right) : left.tensor < right.tensor;
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
