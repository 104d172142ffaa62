//===- MakeGpt.h - write a GPT without weights ------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_TRANSLATE_MAKEGPT_H
#define TOOLS_ZERO_TRANSLATE_MAKEGPT_H

#include <string>

namespace zero {

/// Writes the ONNX model of a GPT-2 to `path`, with the mean cross-entropy of the next token as its
/// loss. `sizes` is "layers=48,width=1600"; what is not named has its default, and heads are width
/// /
/// 64. The weights have the names of Hugging Face's GPT-2 and refer to a file that does not exist:
/// `zeroc --init` draws them. False after an error.
bool makeGpt(const std::string &sizes, const std::string &path);

} // namespace zero

#endif // TOOLS_ZERO_TRANSLATE_MAKEGPT_H
