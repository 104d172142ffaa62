//===- Passes.td - lift updates out of whole training steps ---------------===//

#ifndef ZERO_TRANSFORMS_LIFT_PASSES_TD
#define ZERO_TRANSFORMS_LIFT_PASSES_TD

include "mlir/Pass/PassBase.td"

def LiftUpdates : Pass<"zero-lift-updates", "::mlir::ModuleOp"> {
  let summary = "Find parameters, gradients and updates in a whole training step";
  let description = [{
    A model that is a whole training step (`zero.whole_step`) reads its state and writes the next
    one. State of floats that the loss depends on becomes a `zero.parameter`. Its gradient is the
    value of its shape from which the new values of the parameter follow, element by element,
    without any other value that depends on the batch: it becomes a `zero.gradient`, the one place
    where ranks exchange what they computed. State of the same shape that these new values are
    computed from is optimizer state of the parameter. The nodes between become the kernel of a
    `zero.update`, which is shared by parameters with the same formula. Its first scalar turns the
    sum of the gradients into their mean over ranks and micro-batches.

    One launch computes scalars that follow from counters and the learning rate, and the next
    values of counters. The learning rate is an input of one float that only updates read; the
    step then takes it as the scalar `learning_rate`. State of several elements whose new value
    does not depend on the batch is written once a step, from nodes in the epilogue. Other state
    stays as it is: `zero-update-buffers` makes buffers of it.

    The update of a matrix may read a step that nodes of any kind compute from one direction, which
    is elementwise in the gradient and in states. A launch with `zero.direction` then advances these
    states, the nodes run once at the end, and the update reads their result, as that of an
    optimizer of matrices does. Any other update that is not elementwise, or that depends on other
    values of the batch than the gradient, is an error that names the value.

    ```mlir
    zero.state constant @w : tensor<8x4xf32> {required}                  // before
    %w = zero.read @w : tensor<8x4xf32>
    %s = onnx.node "Mul"(%g, %rate) ...
    %n = onnx.node "Sub"(%w, %s) ...
    zero.write @w, %n : tensor<8x4xf32>
    zero.parameter @w : tensor<8x4xf32> {required}                       // after
    %r = zero.rank_share : tensor<f32>
    %t = zero.gradient @w, %g : tensor<8x4xf32> -> tensor<8x4xf32>
    zero.update @w [], %t by @update(%r, %rate) : tensor<8x4xf32>, (tensor<f32>, tensor<f32>)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
                           "::zero::ZeroDialect"];
}

#endif // ZERO_TRANSFORMS_LIFT_PASSES_TD
