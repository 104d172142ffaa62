//===- Sequences.h - splits into sequences ----------------------*- C++ -*-===//
//
// PyTorch exports `a, b = x.split(n)` as a SplitToSequence whose chunks SequenceAt
// takes out. Where all positions are constants no sequence is needed: such nodes
// become a Split. All other uses of sequences stay as they are, and are refused.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_IMPORT_SEQUENCES_H
#define LIB_IMPORT_SEQUENCES_H

#include "Infer.h"

#include "llvm/ADT/StringSet.h"

namespace zero::importer {

struct Cut;

/// The sequences of a graph whose nodes are typed one after the other.
class Sequences {
public:
  /// `graph` holds its constants, inputs and nodes, all of them in order.
  Sequences(const Model &model, TypedGraph &graph);

  /// If `node` is a SplitToSequence whose chunks are only used by SequenceAt at known positions,
  /// turns it into a Split and those into nodes that use its results, and returns true. Fails if
  /// sizes or positions do not match. The ONNX checker has checked `node`, and its operands have
  /// types.
  bool lower(pb::NodeProto &node);

private:
  /// A SequenceAt and the chunk that it takes, counted from the front.
  struct Taken {
    pb::NodeProto *node;
    int64_t position;
  };

  void findUsers(const Model &model);
  void split(pb::NodeProto &node, const Cut &cut, std::vector<Taken> taken);
  void takePiece(pb::NodeProto &node, const std::string &piece, const Cut &cut);
  std::string addName();
  std::string addInts(std::vector<int64_t> values);
  void setList(pb::NodeProto &node, llvm::StringRef attribute, std::vector<int64_t> values);

  TypedGraph &graph;
  /// Before opset 13 sizes and axes are attributes.
  const bool listsAreOperands;
  /// The SequenceAt nodes that read chunks of a sequence, if it has no other uses.
  llvm::StringMap<std::vector<pb::NodeProto *>> users;
  /// All names of values, so that new ones differ.
  llvm::StringSet<> names;
  int64_t added = 0;
};

} // namespace zero::importer

#endif // LIB_IMPORT_SEQUENCES_H
