//===- Passes.td - order transfers and updates ---------------------------===//

#ifndef ZERO_TRANSFORMS_SCHEDULE_PASSES_TD
#define ZERO_TRANSFORMS_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def OverlapUpdates : Pass<"zero-overlap-updates", "::mlir::ModuleOp"> {
  let summary = "Updates a bucket as soon as its gradient is there";
  let description = [{
    An update of optimizer state on another tier moves from the epilogue to behind the last op of
    the micro-batch that its gradient, or a reader of its parameters, waits for; over several
    micro-batches it runs in the last. So state comes, is updated on the host and goes back
    while backward goes on, and no update is late (Fuyou, arXiv 2403.06504, section 4.2). What
    needs all gradients, such as a clipped norm or a step that may be skipped, stays: a remark of
    category "offload" says what it waits for.
  }];
  let options = [Option<"quiet", "quiet", "bool", /*default=*/"false",
                        "say nothing, as of a program that a planner only tries">];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def OffloadActivations : Pass<"zero-offload-activations", "::mlir::ModuleOp"> {
  let summary = "Decides which saved activations leave the device";
  let description = [{
    Writes `zero.tier` on launches of forward whose results backward reads: these go there behind
    what makes them and come back before backward's first reader (`zero-insert-transfers`). It stays
    what forward still reads when backward begins to, what is away too shortly for anything of
    its size to be made meanwhile, what is read after backward, and the smallest values that together
    are at most 1 % of what is saved. With tier `device` as many go to nvme and to the host as the
    plan on the module says, those first that are made first. What runs again reads the same values, so with layers that
    run again their checkpoints are what is moved.

    ```mlir
    %a:2 = zero.launch @relu(%x) {zero.tier = [#zero.tier<host>, #zero.tier<device>]} : ...
    ```
  }];
  let options = [Option<"tier", "tier", "::zero::Tier", /*default=*/"::zero::Tier::Host",
                        "where they go">,
                 Option<"quiet", "quiet", "bool", /*default=*/"false",
                        "say nothing, as of a program that a planner only tries">];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def InsertTransfers : Pass<"zero-insert-transfers", "::mlir::ModuleOp"> {
  let summary = "Lets values come to what reads them, from the tiers on which they lie";
  let description = [{
    A launch that works in place on optimizer state or an accumulator of the host or of nvme
    runs on the host (`zero.host`), as does one whose operands, scalars apart, all lie there;
    everything else works on the device. What an op reads from another tier is brought right
    before it, over the host between nvme and the device, and what is made in place of such a copy
    goes back to where it came from; parameters that a kernel only writes are not read. A result that
    carries `zero.tier` goes there, and is brought back for what reads it, or, where forward made
    it, for what reads it in backward.

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

def ScheduleTransfers : Pass<"zero-schedule-transfers", "::mlir::ModuleOp"> {
  let summary = "Gives gathers and transfers their time";
  let description = [{
    Lanes run in order and begin as soon as their bytes allow, so where a transfer stands in the
    step says how long room is kept for it. One that brings something, and a gather, moves up until
    its link has the time that it takes before its first reader (by the costs of kernels and the
    machine's bandwidths, links being serial), and as much again, as costs are estimates; one that
    takes something away moves down as far as its link needs, so that nobody waits for the bytes that
    it leaves. So a bucket is gathered beside the kernels of the one before, what is gathered comes to
    the device before that, and from disk before that. Nothing takes more room than the budget of the
    tier has; without one the device's peak does not rise, and the host gets twice what is on its way
    at most. All stay in their part of the step. lib/Planning's Prefetch decides; the step is
    reordered once for the gathers and once for each link.
  }];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def VerifyStateOrder : Pass<"zero-verify-state-order", "::mlir::ModuleOp"> {
  let summary = "Checks that no state is read after it was written";
  let description = [{
    The order of the step is total and the same on all ranks. A `zero.read` is
    the value at the start of the step, so none may follow a `zero.write` of the
    same symbol, and no value may be read through a bucket after the bucket's
    update took its bytes. Every collective carries the name that a time-out
    reports.
  }];
}

#endif // ZERO_TRANSFORMS_SCHEDULE_PASSES_TD
