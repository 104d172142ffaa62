//===- TestRemat.cpp - recomputation as planners see it, for tests --------===//

#include "test/lib/Passes.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Place/RematModel.h"

#include "llvm/Support/JSON.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_TESTREMAT
#include "test/lib/Passes.h.inc"
} // namespace zero

using namespace zero;
using planning::Kept;
using planning::RematCost;
using planning::RematProblem;

static void writeProblem(llvm::json::OStream &json, const RematProblem &problem) {
  json.attribute("bytes", llvm::json::Array(problem.bytes));
  json.attributeArray("nodes", [&] {
    for (const RematProblem::Node &node : problem.nodes)
      json.object([&] {
        json.attribute("seconds", node.seconds);
        json.attribute("forward", node.forward);
        json.attribute("again", node.layer >= 0);
        json.attribute("reads", llvm::json::Array(node.reads));
        json.attribute("writes", llvm::json::Array(node.writes));
      });
  });
}

static void writePlans(llvm::json::OStream &json, const RematProblem &problem) {
  json.attributeArray("plans", [&] {
    for (const Kept &kept : planning::planLadder(problem, /*rungs=*/16)) {
      RematCost cost = planning::simulate(problem, kept);
      json.object([&] {
        json.attribute("peak", cost.peak);
        json.attribute("seconds", cost.seconds);
      });
    }
  });
}

namespace {
struct TestRemat : zero::impl::TestRematBase<TestRemat> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    planning::Machine machine;
    Layers layers(module, *step);
    RematModel model(*step, layers, OpTimes(module, machine));
    llvm::json::OStream json(llvm::outs());
    json.object([&] {
      writeProblem(json, model.getProblem());
      writePlans(json, model.getProblem());
    });
    llvm::outs() << "\n";
  }
};
} // namespace
