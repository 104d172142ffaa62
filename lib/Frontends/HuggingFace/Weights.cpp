//===- Weights.cpp - safetensors of a folder ------------------------------===//

#include "Weights.h"

#include "Keys.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace mlir;

namespace zero::hf {

static constexpr StringLiteral kFile = "model.safetensors";
static constexpr StringLiteral kIndex = "model.safetensors.index.json";
/// How many names a warning lists.
static constexpr size_t kListed = 5;

static std::string pathIn(StringRef folder, StringRef file) {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, file);
  return std::string(path);
}

/// The element type of a parameter; null for one that is no float of 16 or 32 bits.
static Type elementOf(rt::DType dtype, MLIRContext *context) {
  switch (dtype) {
  case ZERO_RT_F32:
    return Float32Type::get(context);
  case ZERO_RT_F16:
    return Float16Type::get(context);
  case ZERO_RT_BF16:
    return BFloat16Type::get(context);
  default:
    return nullptr;
  }
}

LogicalResult Weights::openFile(StringRef folder, StringRef file, Location loc) {
  rt::MappedFile mapped;
  std::map<std::string, rt::Array> arrays;
  const std::string path = pathIn(folder, file);
  rt::Status status = rt::MappedFile::open(path, mapped);
  if (status.ok())
    status = rt::parseSafetensors(mapped.bytes(), arrays);
  if (!status.ok())
    return emitError(loc) << "cannot read '" << file << "': " << status.getMessage();
  for (auto &[name, array] : arrays) {
    Tensor tensor{file.str(), uint64_t(array.bytes.data() - mapped.bytes().data()), array};
    tensor.array.bytes = {tensor.array.bytes.data(), tensor.array.bytes.size()};
    if (!tensors.try_emplace(name, std::move(tensor)).second)
      return emitError(loc) << "tensor '" << name << "' is in two files, of which one is '" << file
                            << "'";
  }
  opened = true;
  return success();
}

LogicalResult Weights::openIndex(StringRef folder, Location loc) {
  auto bad = [&]() { return emitError(loc) << "'" << kIndex << "': "; };
  llvm::Expected<llvm::json::Object> object = readObject(pathIn(folder, kIndex));
  if (!object)
    return bad() << llvm::toString(object.takeError());
  const llvm::json::Object *map = object->getObject("weight_map");
  if (!map)
    return bad() << "expected a dictionary 'weight_map'";
  std::map<std::string, std::string> homes; // in order, for messages
  std::set<std::string> files;
  for (const auto &[name, file] : *map)
    homes[name.str()] = file.getAsString().value_or("").str();
  for (const auto &[name, file] : homes) {
    if (file.empty() || StringRef(file).contains('/') || StringRef(file).contains('\0'))
      return bad() << "expected the name of a file in the folder for tensor '" << name << "'";
    files.insert(file);
  }
  for (const std::string &file : files)
    if (failed(openFile(folder, file, loc)))
      return failure();
  for (const auto &[name, file] : homes)
    if (auto it = tensors.find(name); it == tensors.end() || it->second.file != file)
      return bad() << "expected tensor '" << name << "' in '" << file << "'";
  return success();
}

LogicalResult Weights::open(StringRef folder, Location loc) {
  if (llvm::sys::fs::exists(pathIn(folder, kFile)))
    return openFile(folder, kFile, loc);
  if (llvm::sys::fs::exists(pathIn(folder, kIndex)))
    return openIndex(folder, loc);
  emitWarning(loc) << "there is no '" << kFile << "' and no '" << kIndex
                   << "' beside it: give the weights of a run in --weights, or begin with random "
                      "values (--init)";
  return success();
}

StringRef Weights::storedName(StringRef name, StringRef stem) const {
  if (tensors.contains(name))
    return name;
  StringRef inner = name;
  const bool isInside = inner.consume_front(stem) && inner.consume_front(".");
  return isInside && tensors.contains(inner) ? inner : StringRef();
}

void Weights::checkTied(StringRef name, StringRef alias, Location loc) {
  if (!tensors.contains(alias))
    return;
  used.insert(alias);
  emitWarning(loc) << "the weights have '" << alias << "', which key 'tie_word_embeddings' = true "
                   << "says is '" << name
                   << "': it is not read; if it differs, set the key to false";
}

DataAttr Weights::find(StringRef name, RankedTensorType type, Location loc) {
  auto it = tensors.find(name);
  if (it == tensors.end()) {
    ++errors;
    emitError(loc) << "the weights have no tensor '" << name << "' of " << type;
    return {};
  }
  used.insert(name);
  const Tensor &tensor = it->second;
  Type stored = elementOf(tensor.array.dtype, type.getContext());
  const bool fits = llvm::equal(tensor.array.shape, type.getShape(),
                                [](uint64_t a, int64_t b) { return a == uint64_t(b); });
  if (!stored || !fits) {
    ++errors;
    emitError(loc) << "tensor '" << name << "' of '" << tensor.file
                   << "': expected floats of 16 or 32 bits of " << type
                   << ", as the configuration says, got " << rt::nameOf(tensor.array.dtype) << " "
                   << rt::shapeText(tensor.array.shape);
    return {};
  }
  return DataAttr::get(type.getContext(), tensor.file, tensor.offset, tensor.array.bytes.size(),
                       stored == type.getElementType() ? Type() : stored);
}

void Weights::warnOfUnused(Location loc) const {
  SmallVector<StringRef> unused;
  for (const auto &entry : tensors)
    if (!used.contains(entry.getKey()))
      unused.push_back(entry.getKey());
  if (unused.empty())
    return;
  llvm::sort(unused);
  const size_t listed = std::min(unused.size(), kListed);
  emitWarning(loc) << unused.size() << " tensors of the weights are not of the model that the "
                   << "configuration describes, and not read: '"
                   << llvm::join(ArrayRef(unused).take_front(listed), "', '") << "'"
                   << (listed < unused.size() ? ", ..." : "");
}

} // namespace zero::hf
