//===- Passes.td - order transfers and updates ---------------------------===//

#ifndef ZERO_TRANSFORMS_SCHEDULE_PASSES_TD
#define ZERO_TRANSFORMS_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def OverlapUpdates : Pass<"zero-overlap-updates", "::mlir::ModuleOp"> {
  let summary = "Move updates of offloaded state into the backward pass";
  let description = [{
    Moves an update of optimizer state on another tier from the epilogue to just after the last
    op of the micro-batch that its gradient, or a reader of its parameters, depends on. Over
    several micro-batches the update runs in the last one. So state is fetched, updated on the
    host and stored while backward runs, and no update is delayed (Fuyou, arXiv 2403.06504,
    section 4.2).

    Of an optimizer of matrices the launch that advances the states moves, with the launches that
    the host runs on its result, such as the step of the rank's own matrix. What the device does
    with these results comes behind all updates that were moved, since backward would wait for the
    host. So do launches that a condition restricts to the owner of a matrix, because each rank has
    a place for their results. The order of exchanges remains the same on all ranks.

    An update that depends on all gradients, for example through a clipped norm or in a step that
    may be skipped, is not moved; a remark of category "offload" names the dependency.
  }];
  let options = [Option<"quiet", "quiet", "bool", /*default=*/"false",
                        "emit no remarks, for programs that a planner tries">];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def HoistSums : Pass<"zero-hoist-sums", "::mlir::ModuleOp"> {
  let summary = "Move sums along the axis tensor behind what they sum";
  let description = [{
    The gradient that leaves a sharded layer is a sum over the ranks along the axis tensor. It is
    computed before the gradient of the layer's weights, and the sum is the next collective that
    backward waits for. So it moves in front of all that was computed meanwhile, and runs beside
    the product of the weights where lanes overlap. Reductions of gradients of parameters, which
    only the update waits for, stay where they are.

    ```mlir
    %x = zero.launch @product(%dy, %w) : ...                     // before
    %g = zero.launch @weights(%a, %dy) : ...
    %s = zero.reduce_scatter %x over <[@tensor]> : ...

    %x = zero.launch @product(%dy, %w) : ...                     // after
    %s = zero.reduce_scatter %x over <[@tensor]> : ...
    %g = zero.launch @weights(%a, %dy) : ...
    ```
  }];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def PartitionActivations : Pass<"zero-partition-activations", "::mlir::ModuleOp"> {
  let summary = "Divide saved activations over the ranks that hold them alike";
  let description = [{
    Partitioned activations, Pa, of ZeRO-R (arXiv 1910.02054, section 6.1). Of a value that
    forward saves and that all ranks along the axis tensor hold alike (`zero.replicated`), each
    rank keeps its slice from the last reader in forward on. The ranks gather the value before
    its first reader in backward. So saved bytes are divided by the number of these ranks, and
    each value is received once more. Slices may be offloaded like any saved value (Pa+cpu).
    Values that zero-offload-activations would leave on the device stay whole.

    ```mlir
    %o = zero.own_slice %a over <[@tensor]> : (tensor<8x64xf32>) -> tensor<256xf32>
    %k = zero.copy %o : tensor<256xf32>
    ...
    %g = zero.all_gather %k over <[@tensor]> : (tensor<256xf32>) -> tensor<512xf32>
    ```
  }];
  let options = [Option<"quiet", "quiet", "bool", /*default=*/"false",
                        "emit no remarks, for programs that a planner tries">];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::zero::ZeroDialect"];
}

def OffloadActivations : Pass<"zero-offload-activations", "::mlir::ModuleOp"> {
  let summary = "Choose the saved activations to offload";
  let description = [{
    Writes `zero.tier` on launches of forward whose results backward reads.
    `zero-insert-transfers` moves these results to the tier after they are computed and back
    before their first reader in backward. The following stay on the device: values that forward
    still reads when backward begins, values whose absence is too short for anything of their
    size to be computed meanwhile, values that are read after backward, and the smallest values
    that together are at most 1 % of the saved bytes. With tier `device`, as many bytes go to
    nvme and to the host as the plan on the module says, those that are computed first going
    first. Recomputation reads the same values, so with recomputed layers the activation
    checkpoints are offloaded.

    ```mlir
    %a:2 = zero.launch @relu(%x) {zero.tier = [#zero.tier<host>, #zero.tier<device>]} : ...
    ```
  }];
  let options = [Option<"tier", "tier", "::zero::Tier", /*default=*/"::zero::Tier::Host",
                        "tier to offload to; device: as the plan says">,
                 Option<"quiet", "quiet", "bool", /*default=*/"false",
                        "emit no remarks, for programs that a planner tries">];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def InsertTransfers : Pass<"zero-insert-transfers", "::mlir::ModuleOp"> {
  let summary = "Insert transfers for operands that reside on another tier";
  let description = [{
    A launch that updates optimizer state or an accumulator of the host or nvme tier in place
    runs on the host (`zero.host`), and so does a launch whose operands, except scalars, all
    reside there. All other launches run on the device. In a program for GPUs, launches of the
    host name the clones of zero-clone-host-kernels, and a kernel without one runs on the
    device. An operand from another tier is transferred just before the op that reads it, via
    the host between nvme and the device. A result that is computed in place of such a copy is
    transferred back to the tier of origin. Parameters that a kernel only writes are not read. A
    result with `zero.tier` is transferred to that tier and back for its readers, or, if forward
    computed it, for its readers in backward.

    ```mlir
    %m = zero.read @bucket0.exp_avg : tensor<64xf32>                   // on nvme
    %h = zero.transfer %m to host : tensor<64xf32>
    %p:2 = zero.launch @update(%w, %h, %g) {zero.host} : ...
    %n = zero.transfer %p#1 to nvme into %m : tensor<64xf32>
    zero.write @bucket0.exp_avg, %n : tensor<64xf32>
    ```
  }];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def ShareFetches : Pass<"zero-share-fetches", "::mlir::ModuleOp"> {
  let summary = "Update the copies of parameters that backward has read";
  let description = [{
    Lets an update that runs beside backward work on the copy in memory of the host through which
    backward has fetched its parameters from a disk, instead of reading them once more. The copy is
    kept until then, if the budgets of the tiers have space for it. Fetches of forward are not
    shared, because they are much earlier.
  }];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def DelayUpdates : Pass<"zero-delay-updates", "::mlir::ModuleOp"> {
  let summary = "Move updates on the host into the next step";
  let description = [{
    Moves an update that the host runs from the epilogue to the begin of the next step, before the
    first op of forward that reads its parameters, with the transfers of its state. Its gradient and
    scalars stay in buffers until then; an accumulator of gradients stays where it is. So updates run
    beside forward, and each layer waits for its own (GreedySnake, arXiv 2512.17570, section 4.3).
    Every op computes what it would have computed at the end of its step, so the numbers are those
    of the step without this pass.

    The ops that were moved have the attribute `zero.delayed`: they finish the step before. The first
    step of a run does not execute them. Before state is evaluated, saved or read, the runtime
    executes them alone. A `zero.read` of another op finds the state as they leave it.

    An update stays where something else than its own state, a gradient or scalars goes into it, or
    where something else than state follows from it. A remark of category "offload" names that op.
  }];
  let options = [Option<"quiet", "quiet", "bool", /*default=*/"false",
                        "emit no remarks, for programs that a planner tries">];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def ScheduleTransfers : Pass<"zero-schedule-transfers", "::mlir::ModuleOp"> {
  let summary = "Schedule gathers and transfers to overlap with compute";
  let description = [{
    Lanes execute in order and start a command as soon as its bytes are available, so the
    position of a transfer in the step determines how long its bytes are reserved. A gather or a
    fetching transfer moves up until its link has enough time before the first reader (by the
    costs of kernels and the bandwidths of the machine; a link is serial), and by the same time
    again, because costs are estimates. A storing transfer moves down as far as its link needs,
    so that no op waits for the bytes that it releases. So a bucket is gathered beside the
    kernels that use the previous bucket, its shards are fetched to the device before that, and
    from disk before that. An update that the host makes during backward, of state that it keeps,
    moves down until it is complete: its gradient has its bytes until then, and the next gradient,
    which moves to the host meanwhile, and the kernels of the device take others. If the packed
    host then has no space for it, each update stays next to its gradient. No move exceeds the
    budget of a tier. Without a budget the peak of
    the device rises by the bytes for prefetching at most, and the host has at most twice the bytes
    in transit. All ops stay in their segment, except that a transfer of the epilogue which fetches
    state that micro-batches do not write may run in the last micro-batch: a state is read while
    backward runs, also if its update waits for all gradients. Prefetch of lib/Planning decides;
    the step is reordered once for the gathers, once for the reductions, and once for each link.

    With bytes for prefetching, reductions of gradients move down to the next collective at most,
    because the lane of collectives runs them in order, and a step without transfers is reordered,
    too. The module then has the attribute `zero.prefetch_bytes`. Without such bytes, reductions
    stay in place.
  }];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def VerifyStateOrder : Pass<"zero-verify-state-order", "::mlir::ModuleOp"> {
  let summary = "Verify that no state is read after it is written";
  let description = [{
    The order of the step is total and the same on all ranks. A `zero.read` is the value at the
    start of the step, so none may follow a `zero.write` of the same symbol, and no value may be
    read through a bucket after the update of the bucket has overwritten its bytes. With
    `zero.delayed` a write finishes the step before: then other reads must follow it. Every
    collective has the name that a time-out reports.
  }];
}

#endif // ZERO_TRANSFORMS_SCHEDULE_PASSES_TD
