//===- Passes.td - passes of lib/Emit -------------------------------------===//

#ifndef ZERO_EMIT_PASSES_TD
#define ZERO_EMIT_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifySchedule : Pass<"zero-verify-schedule", "::mlir::ModuleOp"> {
  let summary = "Proves that each command finds what it reads, however fast lanes are";
  let description = [{
    Builds the tables of the executable from a step that `pack` has given its places, writes
    nothing, and proves of them, for all ranks, for the first turn, those between and the last
    one, whatever predicates say, in training and in evaluation:

    - In the listed order each command finds in its bytes the value that it reads, and at the
      end of the step each state holds what the next one expects. So nothing is used before
      it has arrived, released before it was copied, or overwritten while somebody reads it.
    - Commands of different lanes that touch the same bytes, one of them writing, are ordered
      by waits, as are all collectives: what holds in the listed order holds however fast
      lanes are. Waits lead back only, so no lane waits for ever.

    `emit` proves the same of each file before it is written.
  }];
}

#endif // ZERO_EMIT_PASSES_TD
