//===- OrtCheckpoint.cpp - values of onnxruntime's checkpoints ------------===//

#include "OrtArtifacts.h"

#include "Tensor.h"

#include "runtime/io/ort_checkpoint.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

#include <filesystem>

using llvm::StringRef;

namespace zero::importer {

/// `path` as data of the model at `model`, relative to its folder.
static std::string relativeTo(StringRef model, StringRef path) {
  StringRef folder = llvm::sys::path::parent_path(model);
  std::error_code error;
  auto relative = std::filesystem::relative(path.str(), folder.empty() ? "." : folder.str(), error);
  if (error || relative.empty())
    fail("--ort-checkpoint: no path leads from the model's folder to " + quote(path));
  return relative.string();
}

static rt::OrtCheckpoint readCheckpoint(StringRef path, uint64_t &bytes) {
  rt::MappedFile file;
  rt::OrtCheckpoint checkpoint;
  rt::Status status = rt::MappedFile::open(path.str(), file);
  if (!status.ok())
    fail("--ort-checkpoint: " + status.getMessage());
  status = rt::parseOrtCheckpoint(file.bytes(), checkpoint);
  if (!status.ok())
    fail("--ort-checkpoint: " + quote(path) + ": " + status.getMessage());
  bytes = file.bytes().size();
  return checkpoint;
}

/// The size of the file with the tensors that are not in the checkpoint itself.
static uint64_t externalBytes(StringRef path) {
  rt::MappedFile file;
  rt::Status status = rt::MappedFile::open((path + rt::kOrtDataSuffix).str(), file);
  if (!status.ok())
    fail("--ort-checkpoint: " + status.getMessage());
  return file.bytes().size();
}

namespace {
class Binder {
public:
  Binder(Model &model, StringRef path) : model(model), path(path) {
    for (const pb::ValueInfoProto &input : model.proto.graph().input())
      inputs[input.name()] = &input;
    for (auto [index, entry] : llvm::enumerate(model.constants))
      constants[entry.first] = index;
  }

  void run() {
    uint64_t bytes = 0;
    const rt::OrtCheckpoint checkpoint = readCheckpoint(path, bytes);
    file = relativeTo(model.path, path);
    for (const rt::OrtTensor &tensor : checkpoint.trained)
      bind(tensor, "parameter");
    for (const rt::OrtTensor &tensor : checkpoint.frozen)
      bind(tensor, "constant");
    for (const rt::OrtTensor &tensor : checkpoint.moments)
      bind(tensor, "constant");
    if (!problems.empty())
      fail("--ort-checkpoint: " + quote(path) + " does not fit the model", std::move(problems));
    if (!isUsed)
      fail("--ort-checkpoint: expected parameters of the model in " + quote(path) +
           ", got no input of that name: " + example(checkpoint) +
           "; initializers take values from it with --weights");
    model.record.learningRate = checkpoint.learningRate;
    if (auto step = constants.find(rt::kOrtStep); checkpoint.step && step != constants.end())
      model.constants[step->second].second.splat = double(*checkpoint.step);
  }

private:
  /// Makes the input that `tensor` names state of this `kind`. Other models of the same artifacts
  /// may not have it.
  void bind(const rt::OrtTensor &tensor, StringRef kind) {
    auto input = inputs.find(tensor.name);
    if (input == inputs.end())
      return;
    isUsed = true;
    Constant constant;
    constant.type = int32_t(rt::onnxTypeOf(tensor.dtype));
    constant.dims.assign(tensor.shape.begin(), tensor.shape.end());
    constant.elements = countElements(constant.type, constant.dims, "tensor " + quote(tensor.name));
    if (!hasType(*input->second, constant))
      return problems.push_back("tensor " + quote(tensor.name) + " has another type or shape");
    constant.initializer = ""; // the model has none
    constant.isRequired = !tensor.hasValue;
    if (tensor.hasValue)
      constant.data = placeOf(tensor);
    model.signature.kinds[tensor.name] = kind;
    auto [known, isNew] = constants.try_emplace(tensor.name, model.constants.size());
    if (isNew)
      model.constants.emplace_back(tensor.name, std::move(constant));
    else
      model.constants[known->second].second = std::move(constant);
  }

  /// "it trains 'w' and 5 more".
  static std::string example(const rt::OrtCheckpoint &checkpoint) {
    if (checkpoint.trained.empty())
      return "it trains no parameter";
    return "it trains " + quote(checkpoint.trained.front().name) + " and " +
           std::to_string(checkpoint.trained.size() - 1) + " more";
  }

  DataRef placeOf(const rt::OrtTensor &tensor) {
    if (!tensor.isExternal)
      return {file, tensor.offset, tensor.bytes};
    if (!external)
      external = externalBytes(path);
    if (tensor.offset > *external || tensor.bytes > *external - tensor.offset)
      problems.push_back("tensor " + quote(tensor.name) + " is outside of " +
                         quote(path.str() + rt::kOrtDataSuffix));
    return {file + rt::kOrtDataSuffix, tensor.offset, tensor.bytes};
  }

  static bool hasType(const pb::ValueInfoProto &input, const Constant &constant) {
    const pb::TypeProto::Tensor &type = input.type().tensor_type();
    if (type.elem_type() != constant.type || type.shape().dim_size() != int(constant.dims.size()))
      return false;
    for (auto [dim, extent] : llvm::zip_equal(type.shape().dim(), constant.dims))
      if (!dim.has_dim_value() || dim.dim_value() != extent)
        return false;
    return true;
  }

  Model &model;
  StringRef path;
  std::string file;
  bool isUsed = false; ///< whether the model has any of its tensors
  std::optional<uint64_t> external;
  llvm::StringMap<const pb::ValueInfoProto *> inputs;
  llvm::StringMap<size_t> constants;
  std::vector<std::string> problems;
};
} // namespace

void bindOrtCheckpoint(Model &model, StringRef path) { Binder(model, path).run(); }

} // namespace zero::importer
