//===- Passes.td - assign addresses --------------------------------------===//

#ifndef ZERO_TRANSFORMS_PACK_PASSES_TD
#define ZERO_TRANSFORMS_PACK_PASSES_TD

include "mlir/Pass/PassBase.td"

def PackArena : Pass<"zero-pack-arena", "::mlir::ModuleOp"> {
  let summary = "Assign every value of the step an offset in the arena of its tier";
  let description = [{
    There is one arena for each tier that the step uses. Lifetimes are positions in the step;
    lib/Planning computes the offsets. Writes `zero.offsets` on ops, arguments and state
    symbols, and `zero.certificate` on the module: for each tier the peak in bytes, the lower
    bound, whether the peak is minimal, the bytes by role, and the op at the peak. On the module of
    another shape of the inputs, `zero.first_arenas` are the arenas of the first shape: the search
    for a smaller arena ends at their sizes.
  }];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def VerifyPacking : Pass<"zero-verify-packing", "::mlir::ModuleOp"> {
  let summary = "Verify that no two live values share bytes";
}

#endif // ZERO_TRANSFORMS_PACK_PASSES_TD
