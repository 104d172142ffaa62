//===- ModelFile.h - reads an ONNX file -------------------------*- C++ -*-===//

#ifndef LIB_IMPORT_MODELFILE_H
#define LIB_IMPORT_MODELFILE_H

#include "DataFiles.h"
#include "ModuleRecord.h"
#include "Signature.h"
#include "WireScan.h"
#include "zero/Import/Import.h"

#include <map>
#include <utility>

namespace zero::importer {

/// How the elements of a constant are drawn.
struct RandomValues {
  bool isNormal = false;
  double first = 0, second = 1; ///< mean and standard deviation, or the ends of an interval
  uint64_t stream = 0;          ///< tensors of one stream have the same values
};

/// An initializer or the value of a Constant node, without its bytes.
struct Constant {
  int32_t type = 0;
  Dims dims;
  int64_t elements = 0;
  std::optional<DataRef> data;          ///< the file range of the bytes
  std::optional<pb::TensorProto> value; ///< the bytes themselves, if small
  std::optional<double> splat;          ///< all elements are this; then there are no bytes
  std::optional<RandomValues> random;   ///< all elements are drawn; then there are no bytes
  bool isInitializer = false;           ///< else it is the value of a Constant node
  std::optional<double> number;         ///< its element, if it may be a parameter of one
  bool transposed = false;              ///< the bytes are those of the transpose
  bool isRequired = false;              ///< the model has no value: the run must be given one
  /// The initializer of the model that has these bytes, if its name differs from this one or it is
  /// state; "" if it also represents other tensors.
  std::optional<std::string> initializer;

  bool isLarge() const { return elements * elementBytes(type) > kInlineBytes; }
};

/// A model whose tensors were moved out of its protobuf.
struct Model {
  pb::ModelProto proto;
  std::string path;
  DataFiles files;
  /// Constants by name, in the file's order.
  std::vector<std::pair<std::string, Constant>> constants;
  std::map<std::string, int> opsets;
  Signature signature;
  ModuleRecord record;
  /// The number of the training info that says how the model trains. Its algorithm is part of the
  /// main graph.
  std::optional<int> training;

  /// The opset of ai.onnx; 0 if the model has no node of it.
  int standardOpset() const {
    auto it = opsets.find("");
    return it == opsets.end() ? 0 : it->second;
  }
};

/// Lets initializers of one element that may be parameters be state. For a model without a record
/// of its tensors.
void keepScalarParameters(Model &model);

/// Moves the tensor that the attributes of `node`, a Constant, define out of the node. Fails if it
/// has no supported one.
pb::TensorProto constantValue(pb::NodeProto &node);

/// Takes the Constant nodes out of the main graph; inlining brings new ones.
void takeConstantNodes(Model &model);

/// The tensor of `model` that a message calls `what`, whose bytes are `range` of its file if that
/// is known, as a Constant.
Constant readTensor(Model &model, pb::TensorProto &tensor, std::optional<ByteRange> range,
                    const llvm::Twine &what);

/// Parses the file at `path`. Fails on anything but a well-formed model of a size within limits.
pb::ModelProto readProto(llvm::StringRef path);

/// Reads the model at `path`, appends the algorithm of the training info that `options` choose to
/// its graph, and takes its initializers and Constant nodes out. Fails on anything but a
/// well-formed model of an opset and size within limits.
Model readModel(llvm::StringRef path, const ImportOptions &options);

} // namespace zero::importer

#endif // LIB_IMPORT_MODELFILE_H
