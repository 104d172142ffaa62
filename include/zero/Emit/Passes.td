//===- Passes.td - passes of lib/Emit -------------------------------------===//

#ifndef ZERO_EMIT_PASSES_TD
#define ZERO_EMIT_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifySchedule : Pass<"zero-verify-schedule", "::mlir::ModuleOp"> {
  let summary = "Verify that every command reads the intended value on any timing";
  let description = [{
    Builds the tables of the executable from a step with assigned offsets (`pack`), without
    writing a file. Proves the following for all ranks, for the first, the middle and the last
    micro-batch, for any values of predicates, in training and in evaluation:

    - In program order, each command finds in its bytes the value that it reads, and at the end
      of the step each state holds what the next step expects. So no value is used before it has
      arrived, released before it was copied, or overwritten while it is still read.
    - Commands of different lanes that access the same bytes, at least one of them writing, are
      ordered by waits, and so are all collectives. What holds in program order therefore holds
      for any timing of the lanes. Waits refer only to earlier commands, so no deadlock is
      possible.

    `emit` proves the same of each file before it is written.
  }];
}

#endif // ZERO_EMIT_PASSES_TD
