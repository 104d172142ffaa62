//===- Family.h - what distinguishes families of models ---------*- C++ -*-===//
// A family (`model_type` of config.json) is one entry of a table: names of modules, keys with their
// defaults, and what no key says. What a key says is handled by the key, in Config.cpp.
//===----------------------------------------------------------------------===//

#ifndef LIB_FRONTENDS_HUGGINGFACE_FAMILY_H
#define LIB_FRONTENDS_HUGGINGFACE_FAMILY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace zero::hf {

/// How rows are normalized.
enum class Norm {
  Rms,
  RmsPlusOne, ///< the weight is added to one
  Layer       ///< with a mean and a bias
};

/// How queries, keys and values share one product, if they do.
enum class Packing {
  None,
  Parts, ///< all queries, then all keys, then all values
  Heads  ///< queries, keys and values of a head side by side
};

/// The names of modules, relative to the one that holds them. A module without a name is not there.
struct ModuleNames {
  llvm::StringRef stem = "model", head = "lm_head";
  llvm::StringRef embedding = "embed_tokens", positions = "", layers = "layers", norm = "norm";
  llvm::StringRef beforeAttention = "input_layernorm", afterAttention = "";
  llvm::StringRef beforeMlp = "post_attention_layernorm", afterMlp = "";
  llvm::StringRef attention = "self_attn", query = "q_proj", key = "k_proj", value = "v_proj";
  llvm::StringRef packed = "", output = "o_proj", queryNorm = "", keyNorm = "";
  llvm::StringRef mlp = "mlp", gate = "gate_proj", up = "up_proj", gateUp = "", down = "down_proj";
  llvm::StringRef router = "", experts = "";
};

struct Family {
  llvm::StringRef type; ///< model_type
  llvm::StringRef keys; ///< the keys that its configurations have, and their defaults, as JSON
  llvm::StringRef renaming = {}; ///< "HERE=COMMON,...": its own names of common keys
  ModuleNames names = {};
  Norm norm = Norm::Rms;
  Packing packing = Packing::None;
  bool storesTransposed = false; ///< weights of products are [in, out], as Conv1D has them
  bool qkvBias = false, outputBias = false, mlpBias = false; ///< whatever the keys say
  bool normalizesWholeRows = false; ///< of queries and keys: over all heads, not each
  bool scalesEmbedding = false;     ///< by the square root of the width
  bool padsEmbedding = true;        ///< the row of pad_token_id has no gradient
  llvm::StringRef embeddingDropout = "embd_pdrop"; ///< the key of its ratio; "" if there is none
  bool fixesSlidingPattern = false; ///< sliding_window_pattern may only have its default
  llvm::StringRef ropeTypes = "default,linear,llama3,yarn,longrope";
};

/// All families, in order of their types.
llvm::ArrayRef<Family> allFamilies();

/// The family of `type`; null if there is none.
const Family *findFamily(llvm::StringRef type);

} // namespace zero::hf

#endif // LIB_FRONTENDS_HUGGINGFACE_FAMILY_H
