//===- Passes.td - assign addresses --------------------------------------===//

#ifndef ZERO_TRANSFORMS_PACK_PASSES_TD
#define ZERO_TRANSFORMS_PACK_PASSES_TD

include "mlir/Pass/PassBase.td"

def PackArena : Pass<"zero-pack-arena", "::mlir::ModuleOp"> {
  let summary = "Gives every value of the step its place in one arena";
  let description = [{
    One arena for each tier that the step uses. Lifetimes by position in the step, offsets
    by lib/Planning. Writes
    `zero.offsets` on ops, arguments and state symbols, and `zero.certificate`
    on the module: peak bytes, the lower bound, whether no peak is smaller, bytes by role, and
    the op at the peak; of other tiers the same under `host` and `nvme`.
  }];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def VerifyPacking : Pass<"zero-verify-packing", "::mlir::ModuleOp"> {
  let summary = "Checks that no two live values share bytes";
}

#endif // ZERO_TRANSFORMS_PACK_PASSES_TD
