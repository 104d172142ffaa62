//===- onnx_rewriter.cpp - the pieces of a rewritten model ----------------===//

#include "runtime/io/onnx_rewriter.h"

#include "runtime/support/checked.h"
#include "runtime/support/floats.h"

#include <algorithm>
#include <filesystem>

namespace zero::rt {

/// Sub-graphs and types nest a few levels; Protobuf itself reads 100.
static constexpr int kMaxDepth = 100;
/// Offsets of external data, as exporters align them.
static constexpr uint64_t kAlignment = 64;

// kTensorDims and the others.
enum FieldNumber {
#define ONNX_FIELD(message, field, number, content) k##message##field = number,
#include "runtime/io/onnx_fields.def"
#undef ONNX_FIELD
};

OnnxRewriter::OnnxRewriter(std::span<const uint8_t> file, const std::string &path, int trainingInfo,
                           const std::vector<std::string> &dataFiles,
                           const std::vector<TensorEntry> &entries, std::string dataName)
    : stored(entries.size(), ZERO_RT_NO_DTYPE), file(file), path(path),
      dataName(std::move(dataName)), trainingInfo(trainingInfo), dataFiles(dataFiles),
      entries(entries) {
  for (size_t i = 0; i < entries.size(); ++i)
    byName[entries[i].initializer] = i;
}

OnnxRewriter::Kind OnnxRewriter::childKind(Kind kind, int field) {
#define ONNX_FIELD(message, name, number, content)                                                 \
  if (kind == Kind::message && field == number)                                                    \
    return Kind::content;
#include "runtime/io/onnx_fields.def"
#undef ONNX_FIELD
  return Kind::Other;
}

std::string OnnxRewriter::textAt(WireRange range) const {
  return {reinterpret_cast<const char *>(file.data()) + range.begin, range.size()};
}

Status OnnxRewriter::run() {
  std::optional<WirePieces> result;
  WireRange whole{0, file.size()};
  ZERO_RT_TRY(rewrite(Kind::Model, whole, {}, result));
  if (!result)
    result.emplace().old(whole);
  pieces = std::move(*result);
  return {};
}

Status OnnxRewriter::rewrite(Kind kind, WireRange range, Context context,
                             std::optional<WirePieces> &result) {
  if (++context.depth > kMaxDepth)
    return fail(ZERO_RT_BAD_FILE, "its messages nest deeper than %d", kMaxDepth);
  if (kind == Kind::Tensor)
    return rewriteTensor(range, context, result);
  if (kind == Kind::Node && context.isMain)
    ZERO_RT_TRY(constantName(range, context.constant));
  WirePieces pieces;
  bool changed = false;
  ZERO_RT_TRY(forEachField(file, range, [&](const WireField &field) -> Status {
    Kind child = field.isBlock ? childKind(kind, field.number) : Kind::Other;
    std::optional<WirePieces> block;
    Context inner = context;
    inner.isChosen = child == Kind::TrainingInfo ? infosSeen++ == trainingInfo : context.isChosen;
    inner.isMain = holdsEntries(kind, field, context);
    if (child != Kind::Other)
      ZERO_RT_TRY(rewrite(child, field.block, inner, block));
    changed |= block.has_value();
    if (block)
      pieces.field(field.number, std::move(*block));
    else
      pieces.old(field.whole);
    return {};
  }));
  if (changed)
    result = std::move(pieces);
  return {};
}

/// Whether `field` of a message in `context` holds initializers or nodes of the main graph or of
/// the chosen algorithm, or is such a graph.
bool OnnxRewriter::holdsEntries(Kind kind, const WireField &field, const Context &context) const {
  switch (kind) {
  case Kind::Model:
    return childKind(kind, field.number) == Kind::Graph;
  case Kind::TrainingInfo:
    return context.isChosen && field.number == kTrainingInfoAlgorithm;
  default:
    return context.isMain && kind == Kind::Graph;
  }
}

/// The result of a Constant node; nothing for another one.
Status OnnxRewriter::constantName(WireRange node, std::string &name) const {
  std::string output, type, domain;
  ZERO_RT_TRY(forEachField(file, node, [&](const WireField &field) {
    if (field.number == kNodeOutput && output.empty())
      output = textAt(field.block);
    else if (field.number == kNodeOpType)
      type = textAt(field.block);
    else if (field.number == kNodeDomain)
      domain = textAt(field.block);
    return Status();
  }));
  if (type == "Constant" && (domain.empty() || domain == "ai.onnx"))
    name = output;
  return {};
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Status OnnxRewriter::readLocation(WireRange range, Tensor &tensor) const {
  std::string key, value;
  ZERO_RT_TRY(forEachField(file, range, [&](const WireField &field) {
    if (field.number == kStringStringEntryKey)
      key = textAt(field.block);
    else if (field.number == kStringStringEntryValue)
      value = textAt(field.block);
    return Status();
  }));
  tensor.location[key] = value;
  return {};
}

Status OnnxRewriter::readTensor(WireRange range, Tensor &tensor) const {
  return forEachField(file, range, [&](const WireField &field) -> Status {
    switch (field.number) {
    case kTensorDims:
      if (field.isBlock)
        return readVarints(file, field.block, tensor.dims);
      tensor.dims.push_back(field.value);
      return {};
    case kTensorDataType:
      tensor.type = field.value;
      return {};
    case kTensorName:
      tensor.name = textAt(field.block);
      return {};
    case kTensorRawData:
      tensor.raw = field.block;
      return {};
    case kTensorInt32Data:
    case kTensorInt64Data:
      tensor.isList = true;
      return {};
    case kTensorFloatData:
    case kTensorDoubleData:
      tensor.typed = field.block;
      tensor.typedBlocks += field.isBlock ? 1 : 2;
      return {};
    case kTensorExternalData:
      return readLocation(field.block, tensor);
    case kTensorDataLocation:
      tensor.isExternal = field.value == 1;
      return {};
    default:
      return {};
    }
  });
}

/// The tensor is one of the program's, as the program has it.
Status OnnxRewriter::checkEntry(const Tensor &tensor, size_t entry) {
  const TensorEntry &wanted = entries[entry];
  DType dtype = dtypeOfOnnx(tensor.type);
  const char *name = wanted.initializer.c_str();
  if (stored[entry] != ZERO_RT_NO_DTYPE)
    return fail(ZERO_RT_BAD_FILE, "it has two tensors '%s'", escape(name).c_str());
  std::vector<uint64_t> shape = wanted.shape;
  if (wanted.transposed)
    std::reverse(shape.begin(), shape.end());
  if (tensor.dims != shape)
    return fail(ZERO_RT_BAD_FILE, "tensor '%s': expected shape %s, got %s", escape(name).c_str(),
                shapeText(shape).c_str(), shapeText(tensor.dims).c_str());
  if (!isConvertible(wanted.dtype, dtype))
    return fail(ZERO_RT_BAD_FILE, "tensor '%s': expected %s, got %s", escape(name).c_str(),
                nameOf(wanted.dtype), nameOf(dtype));
  stored[entry] = dtype;
  return {};
}

Status OnnxRewriter::rewriteTensor(WireRange range, const Context &context,
                                   std::optional<WirePieces> &result) {
  Tensor tensor;
  ZERO_RT_TRY(readTensor(range, tensor));
  std::optional<size_t> entry;
  if (context.isMain || !context.constant.empty())
    if (auto it = byName.find(context.constant.empty() ? tensor.name : context.constant);
        it != byName.end())
      entry = it->second;
  if (entry)
    ZERO_RT_TRY(checkEntry(tensor, *entry));
  if (tensor.isExternal)
    return moveExternal(range, tensor, entry, result.emplace());
  return entry ? replaceValues(range, tensor, *entry, result.emplace()) : Status();
}

/// New values in place of the old block of them.
Status OnnxRewriter::replaceValues(WireRange range, const Tensor &tensor, size_t entry,
                                   WirePieces &result) {
  std::optional<WireRange> block = tensor.raw;
  if (!block && tensor.typedBlocks == 1)
    block = tensor.typed;
  const uint64_t bytes = entries[entry].elements() * sizeOf(stored[entry]);
  if (bytes == 0) {
    result.old(range);
    return {};
  }
  if (!block && tensor.isList)
    return replaceList(range, entry, result);
  if (!block || block->size() != bytes)
    return fail(ZERO_RT_BAD_FILE, "tensor '%s': its values are not one block of %llu bytes",
                escape(entries[entry].name).c_str(), static_cast<unsigned long long>(bytes));
  result.old({range.begin, block->begin});
  result.tensor(entry, bytes);
  result.old({block->end, range.end});
  return {};
}

/// New values in place of a list of integers, whose bytes depend on them.
Status OnnxRewriter::replaceList(WireRange range, size_t entry, WirePieces &result) const {
  ZERO_RT_TRY(forEachField(file, range, [&](const WireField &field) {
    if (field.number != kTensorInt32Data && field.number != kTensorInt64Data)
      result.old(field.whole);
    return Status();
  }));
  WirePieces values;
  values.tensor(entry, entries[entry].elements() * sizeOf(stored[entry]));
  result.field(kTensorRawData, std::move(values));
  return {};
}

//===----------------------------------------------------------------------===//
// External data
//===----------------------------------------------------------------------===//

/// A file of external data: one that the executable reads, or one in the model's folder.
Status OnnxRewriter::resolve(const std::string &location, std::string &resolved) const {
  namespace fs = std::filesystem;
  for (const std::string &known : dataFiles)
    if (!location.empty() && known.ends_with("/" + location)) {
      resolved = known;
      return {};
    }
  std::error_code error;
  fs::path folder = fs::canonical(fs::path(path).parent_path(), error);
  fs::path target = error ? fs::path() : fs::canonical(folder / location, error);
  auto [end, rest] = std::mismatch(folder.begin(), folder.end(), target.begin(), target.end());
  if (error || location.empty() || end != folder.end() || fs::path(location).is_absolute())
    return fail(ZERO_RT_BAD_FILE, "expected external data inside the model's folder, got '%s'",
                escape(location).c_str());
  resolved = target.string();
  return {};
}

/// The place of the old values of `tensor`; fails if it is out of range.
Status OnnxRewriter::findOld(const Tensor &tensor, OnnxModel::External &old) const {
  auto number = [&](const char *key, uint64_t absent, uint64_t &value) {
    auto it = tensor.location.find(key);
    value = absent;
    return it == tensor.location.end() || parseInteger(it->second, value);
  };
  auto location = tensor.location.find("location");
  ZERO_RT_TRY(resolve(location == tensor.location.end() ? "" : location->second, old.file));
  InputFile source;
  ZERO_RT_TRY(InputFile::open(old.file, source));
  uint64_t bytes = 0, size = source.size();
  bool good = number("offset", 0, old.offset) && old.offset <= size;
  const bool known = countBytes(tensor.dims, dtypeOfOnnx(tensor.type), bytes);
  good = good && number("length", known ? bytes : size - old.offset, old.bytes);
  if (!good || old.bytes > size - old.offset)
    return fail(ZERO_RT_BAD_FILE, "tensor '%s': its external data lies outside '%s'",
                escape(tensor.name).c_str(), escape(old.file).c_str());
  return {};
}

Status OnnxRewriter::moveExternal(WireRange range, const Tensor &tensor,
                                  std::optional<size_t> entry, WirePieces &result) {
  OnnxModel::External moved;
  if (entry) {
    moved.isEntry = true;
    moved.entry = *entry;
    moved.bytes = entries[*entry].elements() * sizeOf(stored[*entry]);
  } else {
    ZERO_RT_TRY(findOld(tensor, moved));
  }
  if (!external.empty()) {
    uint64_t end = external.back().place + external.back().bytes;
    moved.place = (end + kAlignment - 1) / kAlignment * kAlignment;
  }
  auto location = tensor.location;
  location["location"] = dataName;
  location["offset"] = std::to_string(moved.place);
  location["length"] = std::to_string(moved.bytes);
  if (entry)
    location.erase("checksum"); // of the old values
  external.push_back(std::move(moved));
  ZERO_RT_TRY(forEachField(file, range, [&](const WireField &field) {
    if (field.number != kTensorExternalData)
      result.old(field.whole);
    return Status();
  }));
  for (const auto &[key, value] : location) {
    WirePieces pair;
    pair.field(kStringStringEntryKey, key);
    pair.field(kStringStringEntryValue, value);
    result.field(kTensorExternalData, std::move(pair));
  }
  return {};
}

} // namespace zero::rt
