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
    (`reduce-each`, or if the placement shards gradients) or after the last micro-batch. In a
    module with `zero.interleave` the sum of a bucket is reduced as soon as the last micro-batch
    has added to it, and no bytes are reserved for it before.
    What a recomputed layer gathers stays for its backward, or, with `reshard-recomputed`, is
    gathered again there, so that a layer never has all its parameters at once.
    Of an optimizer of matrices, the launches of each step have a condition: they run on the
    `zero.owner` of the matrix. Fails if a matrix has none, or is in the slice of another rank.
    They read and write states with shapes of their own in the owner's slices of their homes.
    The launch that computes the step of a whole tensor (`zero.tensor_step`) has an owner or
    reads the whole gradient on every rank.
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
           "sum 16-bit gradients in f32, round once">,
    Option<"reshardRecomputed", "reshard-recomputed", "bool", /*default=*/"false",
           "gather the parameters of a recomputed layer again for its backward">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
                           "::zero::ZeroDialect"];
}

def InterleaveMicroBatches : Pass<"zero-interleave-micro-batches", "::mlir::ModuleOp"> {
  let summary = "Run each part of the step for all micro-batches before the next part";
  let description = [{
    Cuts the ops of a micro-batch into parts and unrolls the loop over micro-batches: the step has
    the first part of each micro-batch, in their order, then the second part of each, and so on
    ("vertical" order: GreedySnake, arXiv 2512.17570). So parameters are fetched once for all
    micro-batches and a gradient is complete as soon as the last micro-batch has added to it, but
    values that pass from one part to a later one are live for all micro-batches. Ops whose
    operands are equal for all micro-batches, such as fetches, run once.

    A cut is where the next parameters are first read. If (k - 1) times the bytes that would cross
    it, for k micro-batches, are more than the parameters and sums of gradients of the part before
    it, the part continues: keeping these takes less memory than keeping the values. Values that
    cross the cut before it, too, or that forward saves for backward do not count, because they are
    kept in any case.

    Sums over micro-batches have the same order as in the loop, so results are bitwise identical.
    Inputs of the later micro-batches become arguments with `zero.micro_batch`. Runs on modules
    with `zero.interleave`, which it replaces by `zero.interleaved`.

    ```mlir
    %w = zero.all_gather %s                          // before
    %y = zero.launch @layer(%x, %w)
    %w = zero.all_gather %s                          // after, 2 micro-batches
    %y0 = zero.launch @layer(%x0, %w)
    %y1 = zero.launch @layer(%x1, %w)
    ```
  }];
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
