//===- main.cpp - the main function of a tool -----------------------------===//
//
// ZERO_TOOL_MAIN is the function of the tool. The wheel has these functions in one library, so that
// LLVM and MLIR are in it once.
//
//===----------------------------------------------------------------------===//

extern "C" int ZERO_TOOL_MAIN(int argc, char **argv);

int main(int argc, char **argv) { return ZERO_TOOL_MAIN(argc, argv); }
