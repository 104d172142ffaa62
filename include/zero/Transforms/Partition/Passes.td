//===- Passes.td - make the program of one rank --------------------------===//

#ifndef ZERO_TRANSFORMS_PARTITION_PASSES_TD
#define ZERO_TRANSFORMS_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def PartitionStep : Pass<"zero-partition-step", "::mlir::ModuleOp"> {
  let summary = "Makes the step the program of one rank";
  let description = [{
    Replaces reads of parameters by reads of flat buckets, gathered just before
    use where the placement shards them, gradients by buckets that are reduced
    as soon as they are whole, and updates by one launch over each bucket's
    slice. Over several micro-batches gradients add up in an accumulator, reduced
    before (`each`, and where the placement shards gradients) or after the last one.
    Resolves `zero.rank_mean`, `zero.rank_share`, `zero.micro_mean` and `zero.square_sum`.

    ```mlir
    %w = zero.read @w                                // before
    %s = zero.read @bucket0 : tensor<64xf32>         // after, stage 3 on 4 ranks
    %f = zero.all_gather %s : (tensor<64xf32>) -> tensor<256xf32>
    %w = zero.member %f at 0 : (tensor<256xf32>) -> tensor<16x8xf32>
    ```
  }];
  let options = [
    Option<"reduceEach", "reduce-each", "bool", /*default=*/"false", "sum over ranks after each micro-batch">,
    Option<"reduceInF32", "reduce-in-f32", "bool", /*default=*/"true", "add 16-bit gradients in f32, round once">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
                           "::zero::ZeroDialect"];
}

def VerifyPartition : Pass<"zero-verify-partition", "::mlir::ModuleOp"> {
  let summary = "Checks what partition promises";
  let description = [{
    No op that only makes sense before partition is left; every trained
    parameter has a home; persistent and gradient bytes divide over the ranks as
    the placements say.
  }];
}

#endif // ZERO_TRANSFORMS_PARTITION_PASSES_TD
