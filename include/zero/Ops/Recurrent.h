//===- Recurrent.h - packed weights of recurrent layers ---------*- C++ -*-===//

#ifndef ZERO_OPS_RECURRENT_H
#define ZERO_OPS_RECURRENT_H

#include "dialects/Onnx/Onnx.h"

namespace zero {

/// Whether `node` is a zero::LSTM, GRU or RNN, or the gradient of one.
bool isRecurrent(onnx::NodeOp node);

/// Gives `node` its recurrent weights in blocks, [blocks, terms, columns of a block], in f32 or
/// f64: nodes before it reorder them. The columns of each gate are padded with zeros to whole
/// blocks.
void packRecurrentWeights(onnx::NodeOp node);

} // namespace zero

#endif // ZERO_OPS_RECURRENT_H
