//===- onnx_rewriter.h - the pieces of a rewritten model --------*- C++ -*-===//

#ifndef RUNTIME_IO_ONNX_REWRITER_H
#define RUNTIME_IO_ONNX_REWRITER_H

#include "runtime/io/onnx_model.h"

#include <map>
#include <optional>

namespace zero::rt {

/// Walks a model and cuts it into pieces, with the values of entries and external data
/// in new places.
class OnnxRewriter {
public:
  OnnxRewriter(std::span<const uint8_t> file, const std::string &path, int trainingInfo,
               const std::vector<std::string> &dataFiles, const std::vector<TensorEntry> &entries,
               std::string dataName);

  Status run();

  WirePieces pieces;
  std::vector<OnnxModel::External> external;
  std::vector<DType> stored; ///< by entry; no type: the model has no such tensor

private:
  /// The messages that may hold a tensor.
  enum class Kind {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    SparseTensor,
    Function,
    TrainingInfo,
    StringStringEntry,
    Other
  };
  static Kind childKind(Kind kind, int field);

  /// A TensorProto, as far as it matters here.
  struct Tensor {
    std::string name;
    std::vector<uint64_t> dims;
    uint64_t type = 0;
    bool isExternal = false;
    std::optional<WireRange> raw, typed; ///< blocks of values
    int typedBlocks = 0;
    bool isList = false;                         ///< its values are a list of integers
    std::map<std::string, std::string> location; ///< external_data
  };

  /// The position of a message in the model.
  struct Context {
    int depth = 0;
    /// In the main graph itself or the algorithm that continues it, not in a graph that a node
    /// holds.
    bool isMain = false;
    bool isChosen = false; ///< in the training info that the program is
    std::string constant;  ///< the result of the Constant node that this is the value of
  };

  /// Leaves `result` empty where nothing changes.
  Status rewrite(Kind kind, WireRange range, Context context, std::optional<WirePieces> &result);
  bool holdsEntries(Kind kind, const WireField &field, const Context &context) const;
  Status rewriteTensor(WireRange range, const Context &context, std::optional<WirePieces> &result);
  Status constantName(WireRange node, std::string &name) const;
  Status readTensor(WireRange range, Tensor &tensor) const;
  Status readLocation(WireRange range, Tensor &tensor) const;
  Status checkEntry(const Tensor &tensor, size_t entry);
  Status replaceValues(WireRange range, const Tensor &tensor, size_t entry, WirePieces &result);
  Status moveExternal(WireRange range, const Tensor &tensor, std::optional<size_t> entry,
                      WirePieces &result);
  Status replaceList(WireRange range, size_t entry, WirePieces &result) const;
  Status findOld(const Tensor &tensor, OnnxModel::External &old) const;
  Status resolve(const std::string &location, std::string &resolved) const;
  std::string textAt(WireRange range) const;

  std::span<const uint8_t> file;
  std::string path, dataName;
  int trainingInfo;
  int infosSeen = 0;
  const std::vector<std::string> &dataFiles;
  const std::vector<TensorEntry> &entries;
  std::map<std::string, size_t> byName;
};

} // namespace zero::rt

#endif // RUNTIME_IO_ONNX_REWRITER_H
