//===- gguf_model.h - a folder of Hugging Face as .gguf ---------*- C++ -*-===//

#ifndef RUNTIME_IO_GGUF_MODEL_H
#define RUNTIME_IO_GGUF_MODEL_H

#include "runtime/io/gguf.h"
#include "runtime/io/weights_folder.h"

namespace zero::rt {

/// Makes of the tensors of a model those of llama.cpp, with its names and order of rows, and
/// describes the model in `metadata`, with the tokenizer of its folder. Matrices are of `type`, the
/// number of a type of files. Fails for what llama.cpp does not compute as the model does, and for
/// tokenizers that are not byte-level BPE.
Status makeGguf(const FolderConfig &config, uint32_t type, std::vector<TensorEntry> &entries,
                GgufMetadata &metadata);

/// Describes the tokenizer in the folder of `config`, of a model with a `vocabulary` of so many
/// tokens.
Status describeTokenizer(const FolderConfig &config, uint64_t vocabulary, GgufMetadata &metadata);

} // namespace zero::rt

#endif // RUNTIME_IO_GGUF_MODEL_H
