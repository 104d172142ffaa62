//===- Decoder.h - builds the decoder that a configuration describes -*- C++ -*-===//

#ifndef LIB_FRONTENDS_HUGGINGFACE_DECODER_H
#define LIB_FRONTENDS_HUGGINGFACE_DECODER_H

#include "Config.h"
#include "Graph.h"

#include <map>

namespace zero::hf {

class Decoder {
public:
  /// `places`: the positions of tokens in their documents, [batch, sequence]; null: each sequence
  /// is one document.
  Decoder(const Config &config, BatchShape shape, Graph &graph, mlir::Value places)
      : config(config), names(config.family->names), shape(shape), graph(graph), places(places) {}

  /// The scores of all tokens, [batch, sequence, vocabulary].
  mlir::Value logits(mlir::Value tokens);
  /// The mean cross-entropy of the next tokens. Label -100 does not count.
  mlir::Value loss(mlir::Value logits, mlir::Value labels);

private:
  using Value = mlir::Value;

  // Decoder.cpp
  std::string nameIn(llvm::StringRef module, llvm::StringRef name) const;
  Value embed(Value tokens);
  Value embedPositions(NodeBuilder &nodes, Value table);
  Value block(Value value, const Layer &layer, const std::string &module);
  /// `value` normalized by `module`, or as it is if `name` is empty.
  Value normalize(Value value, const std::string &module, llvm::StringRef name);
  /// `value` as a summand of the residual stream.
  Value asSummand(Value value, const std::string &module);
  Value linear(Value value, const std::string &module, int64_t width, bool hasBias);
  static Value capped(NodeBuilder &nodes, Value value, double cap);

  // Attention.cpp
  Value attend(Value value, const Layer &layer, const std::string &module);
  /// Queries, keys and values, [batch, sequence, heads, width].
  std::array<Value, 3> project(Value value, const std::string &module);
  Value rotate(NodeBuilder &nodes, Value heads, int rope);
  std::pair<Value, Value> ropeTables(int rope);
  Value positions(NodeBuilder &nodes);
  /// Which keys each query sees by distance and document, beside causality; null: all. It
  /// broadcasts to [batch, heads, queries, keys].
  Value shownKeys(int64_t window);
  Value isNear(NodeBuilder &nodes, int64_t window);
  Value isSameDocument(NodeBuilder &nodes);
  Value mix(NodeBuilder &nodes, Value query, Value key, Value value, const Layer &layer);
  Value mixWithDropout(const std::string &module, Value query, Value key, Value value,
                       const Layer &layer);

  // Mlp.cpp
  Value feed(Value value, const std::string &module);
  Value feedOnce(Value value, const std::string &module);
  Value feedExperts(Value value, const std::string &module);

  const Config &config;
  const ModuleNames &names;
  BatchShape shape;
  Graph &graph;
  Value places;
  std::map<int, std::pair<Value, Value>> tables;
  std::map<int64_t, Value> masks; ///< by the size of the window
};

} // namespace zero::hf

#endif // LIB_FRONTENDS_HUGGINGFACE_DECODER_H
