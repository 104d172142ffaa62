//===- Passes.td - make the program of one rank --------------------------===//

#ifndef ZERO_TRANSFORMS_PARTITION_PASSES_TD
#define ZERO_TRANSFORMS_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def PartitionStep : Pass<"zero-partition-step", "::mlir::ModuleOp"> {
  let summary = "Partition the step into the program of one rank";
  let description = [{
    Replaces reads of parameters by reads of flat buckets, which are gathered just before use if
    the placement shards them; gradients by buckets that are reduced as soon as they are
    complete; and updates by one launch over the slice of each bucket. Over several
    micro-batches gradients are summed in an accumulator and reduced before the accumulation
    (`reduce-each`, or if the placement shards gradients) or after the last micro-batch.
    Resolves `zero.rank_mean`, `zero.rank_share`, `zero.micro_mean` and `zero.square_sum`.

    ```mlir
    %w = zero.read @w                                // before
    %s = zero.read @bucket0 : tensor<64xf32>         // after, stage 3 on 4 ranks
    %f = zero.all_gather %s : (tensor<64xf32>) -> tensor<256xf32>
    %w = zero.member %f at 0 : (tensor<256xf32>) -> tensor<16x8xf32>
    ```
  }];
  let options = [
    Option<"reduceEach", "reduce-each", "bool", /*default=*/"false",
           "sum gradients over ranks after each micro-batch">,
    Option<"reduceInF32", "reduce-in-f32", "bool", /*default=*/"true",
           "sum 16-bit gradients in f32, round once">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
                           "::zero::ZeroDialect"];
}

def VerifyPartition : Pass<"zero-verify-partition", "::mlir::ModuleOp"> {
  let summary = "Verify the partitioned step";
  let description = [{
    No op that is valid only before partition remains, every trained parameter has a bucket
    (`home`), and persistent bytes and gradient bytes are divided among the ranks as the
    placements say.
  }];
}

#endif // ZERO_TRANSFORMS_PARTITION_PASSES_TD
