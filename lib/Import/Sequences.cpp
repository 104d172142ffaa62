//===- Sequences.cpp - splits into sequences ------------------------------===//

#include "Sequences.h"
#include "Fold.h"

#include "runtime/support/checked.h"

#include <utility>

using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

/// The maximal number of results of a Split whose sizes are a known value.
static constexpr int64_t kMostPieces = kInlineBytes / static_cast<int64_t>(sizeof(int64_t));

static bool isStandard(const pb::NodeProto &node, StringRef type) {
  return node.domain().empty() && node.op_type() == type;
}

/// Whether `node` takes a chunk of the sequence that is its first operand.
static bool takesChunk(const pb::NodeProto &node) {
  return isStandard(node, "SequenceAt") && node.input_size() == 2 &&
         node.input(0) != node.input(1) && node.output_size() == 1 && node.attribute_size() == 0;
}

static std::string operand(const pb::NodeProto &node, int index) {
  return describe(node) + ": operand " + quote(node.input(index));
}

/// The values of operand `index` of `node`, where the importer knows them.
static std::optional<evaluate::Values> knownInts(const TypedGraph &graph, const pb::NodeProto &node,
                                                 int index) {
  auto it = graph.known.find(node.input(index));
  std::optional<evaluate::Values> ints =
      it == graph.known.end() ? std::nullopt : toInts(it->second);
  return ints && !ints->type.isBool() ? ints : std::nullopt;
}

/// How a SplitToSequence splits its axis: into chunks of the same size, of which the last may be
/// smaller, or into chunks that end at each of `ends`.
struct Cut {
  int64_t axis = 0;
  int64_t dim = 0;
  int64_t each = 1;
  std::optional<std::vector<int64_t>> ends;
  bool keepsAxis = true;

  int64_t count() const { return ends ? ends->size() : dim / each + (dim % each != 0); }
  int64_t end(int64_t chunk) const {
    if (ends)
      return (*ends)[chunk];
    return chunk + 1 == count() ? dim : (chunk + 1) * each;
  }
  int64_t start(int64_t chunk) const { return chunk == 0 ? 0 : end(chunk - 1); }
};

static void setAxis(const pb::NodeProto &node, const TensorShape &shape, Cut &cut) {
  const int64_t rank = shape.dims.size(), axis = evaluatedNode(node).getInt("axis", 0);
  if (axis < -rank || axis >= rank)
    fail(describe(node) + ": expected an axis of " + Twine(-rank) + " to " + Twine(rank - 1) +
         ", got " + Twine(axis));
  cut.axis = axis < 0 ? axis + rank : axis;
  cut.dim = shape.dims[cut.axis];
}

static void setEnds(const pb::NodeProto &node, const std::vector<int64_t> &sizes, Cut &cut) {
  int64_t end = 0;
  for (int64_t size : sizes) {
    if (size < 0)
      fail(operand(node, 1) + ": expected sizes of at least 0, got " + Twine(size));
    if (!checkedAdd(end, size, end))
      fail(operand(node, 1) + ": expected sizes that add up to " + Twine(cut.dim) +
           ", got more than 63 bits");
    cut.ends->push_back(end);
  }
  if (end != cut.dim)
    fail(operand(node, 1) + ": expected sizes that add up to " + Twine(cut.dim) + ", got " +
         Twine(end));
}

/// Takes the sizes from `split`, the values of operand 1.
static void setSizes(const pb::NodeProto &node, const evaluate::Values &split, Cut &cut) {
  if (split.dims.size() > 1)
    fail(operand(node, 1) + ": expected a size or a list of sizes, got " +
         Twine(split.dims.size()) + " dimensions");
  if (!split.dims.empty()) {
    cut.ends.emplace();
    return setEnds(node, split.elements, cut);
  }
  cut.each = split.elements[0];
  if (cut.each < 1)
    fail(operand(node, 1) + ": expected a size of at least 1, got " + Twine(cut.each));
}

static void setKeepsAxis(const pb::NodeProto &node, Cut &cut) {
  const int64_t keepdims = evaluatedNode(node).getInt("keepdims", 1);
  if (keepdims != 0 && keepdims != 1)
    fail(describe(node) + ": expected keepdims of 0 or 1, got " + Twine(keepdims));
  cut.keepsAxis = keepdims == 1;
}

/// The split of `node`; nothing if its sizes are not known.
static std::optional<Cut> readCut(const TypedGraph &graph, const pb::NodeProto &node) {
  Cut cut;
  setAxis(node, graph.types.find(node.input(0))->second, cut);
  // With sizes, keepdims is ignored.
  if (node.input_size() < 2 || node.input(1).empty()) {
    setKeepsAxis(node, cut);
    return cut;
  }
  std::optional<evaluate::Values> split = knownInts(graph, node, 1);
  if (!split)
    return std::nullopt;
  setSizes(node, *split, cut);
  return cut;
}

/// The chunk that `node` takes of `count`, by its known operand.
static int64_t readPosition(const pb::NodeProto &node, const evaluate::Values &value,
                            int64_t count) {
  if (value.elements.size() != 1)
    fail(operand(node, 1) + ": expected one position, got " + Twine(value.elements.size()));
  const int64_t given = value.elements[0];
  const int64_t position = given < 0 ? given + count : given;
  if (position < 0 || position >= count)
    fail(operand(node, 1) + ": expected a position among " + Twine(count) + " chunks, got " +
         Twine(given));
  return position;
}

Sequences::Sequences(const Model &model, TypedGraph &graph)
    : graph(graph), listsAreOperands(model.standardOpset() >= 13) {
  for (const pb::NodeProto *node : graph.nodes)
    if (isStandard(*node, "SplitToSequence") && node->output_size() == 1)
      users[node->output(0)];
  if (users.empty())
    return;
  findUsers(model);
  for (const auto &type : graph.types)
    names.insert(type.getKey());
  for (const pb::NodeProto *node : graph.nodes)
    for (const std::string &output : node->output())
      names.insert(output);
}

void Sequences::findUsers(const Model &model) {
  for (pb::NodeProto *node : graph.nodes) {
    const bool takes = takesChunk(*node);
    for (auto [i, name] : llvm::enumerate(node->input())) {
      auto it = users.find(name);
      if (it == users.end())
        continue;
      if (takes && i == 0)
        it->second.push_back(node);
      else
        users.erase(it);
    }
  }
  for (const pb::ValueInfoProto &output : model.proto.graph().output())
    users.erase(output.name());
}

/// A name that no other value has.
std::string Sequences::addName() {
  std::string name;
  do
    name = "chunk." + std::to_string(added++);
  while (!names.insert(name).second);
  return name;
}

/// A new constant.
std::string Sequences::addInts(std::vector<int64_t> values) {
  std::string name = addName();
  const Dims dims{static_cast<int64_t>(values.size())};
  graph.types[name] = {pb::TensorProto::INT64, dims};
  graph.known[name] = fromInts(dims, std::move(values));
  return name;
}

/// Gives `node` a list, as an operand behind the first or as `attribute`.
void Sequences::setList(pb::NodeProto &node, StringRef attribute, std::vector<int64_t> values) {
  if (listsAreOperands) {
    node.add_input(addInts(std::move(values)));
    return;
  }
  pb::AttributeProto &list = *node.add_attribute();
  list.set_name(attribute.str());
  list.set_type(pb::AttributeProto::INTS);
  list.mutable_ints()->Add(values.begin(), values.end());
}

/// Makes `node`, a SequenceAt, take `piece`, which is a chunk.
void Sequences::takePiece(pb::NodeProto &node, const std::string &piece, const Cut &cut) {
  node.set_op_type(cut.keepsAxis ? "Identity" : "Squeeze");
  node.clear_input();
  node.add_input(piece);
  if (!cut.keepsAxis)
    setList(node, "axes", {cut.axis});
}

/// Replaces `node` by a Split into the chunks that are used and the ranges between them. The number
/// of results is bounded by the number of uses, for any size of the chunks.
void Sequences::split(pb::NodeProto &node, const Cut &cut, std::vector<Taken> taken) {
  llvm::sort(taken, [](const Taken &a, const Taken &b) { return a.position < b.position; });
  std::vector<int64_t> sizes;
  std::vector<std::string> pieces;
  int64_t at = 0, latest = -1;
  auto addPiece = [&](int64_t end) {
    sizes.push_back(end - at);
    pieces.push_back(addName());
    at = end;
  };
  for (const Taken &chunk : taken) {
    if (at < cut.start(chunk.position))
      addPiece(cut.start(chunk.position));
    if (chunk.position != std::exchange(latest, chunk.position))
      addPiece(cut.end(chunk.position));
    takePiece(*chunk.node, pieces.back(), cut);
  }
  if (at < cut.dim)
    addPiece(cut.dim);
  if (static_cast<int64_t>(sizes.size()) > kMostPieces)
    fail(describe(node) + ": expected at most " + Twine(kMostPieces) + " pieces, got " +
         Twine(sizes.size()));
  const std::string whole = node.input(0);
  node.set_op_type("Split");
  node.clear_input();
  node.clear_attribute();
  node.clear_output();
  node.add_input(whole);
  setList(node, "split", std::move(sizes));
  for (std::string &piece : pieces)
    node.add_output(std::move(piece));
  pb::AttributeProto &axis = *node.add_attribute();
  axis.set_name("axis");
  axis.set_type(pb::AttributeProto::INT);
  axis.set_i(cut.axis);
}

bool Sequences::lower(pb::NodeProto &node) {
  auto it = isStandard(node, "SplitToSequence") ? users.find(node.output(0)) : users.end();
  if (it == users.end())
    return false;
  std::vector<evaluate::Values> values;
  for (const pb::NodeProto *user : it->second) {
    std::optional<evaluate::Values> position = knownInts(graph, *user, 1);
    if (!position)
      return false;
    values.push_back(std::move(*position));
  }
  std::optional<Cut> cut = readCut(graph, node);
  if (!cut)
    return false;
  std::vector<Taken> taken;
  for (auto [user, value] : llvm::zip_equal(it->second, values))
    taken.push_back({user, readPosition(*user, value, cut->count())});
  split(node, *cut, std::move(taken));
  return true;
}

} // namespace zero::importer
