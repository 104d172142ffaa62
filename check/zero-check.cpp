//===- zero-check.cpp - prove what a partitioned program computes ---------===//

#include "check/proof.h"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

static constexpr char kHelp[] = R"(usage: zero-check REFERENCE.zexe PROGRAM.zexe [--up-to-order]

Proves that a step of PROGRAM changes parameters and states as REFERENCE does, with gradients
averaged over ranks and micro-batches, and that its loss is the mean. REFERENCE is compiled from the
same model for one rank along data and one micro-batch, at stage 0 without offloading.
Prints the rules that the proof uses. Exits with 1 and says why if there is none.

  --up-to-order  sums may have any order; else equal order, and so equal bits, is proven

Element-wise kernels are run on samples, in a child process: check only what you compiled yourself.
)";

int main(int argc, char **argv) {
  std::vector<std::string> files;
  bool upToOrder = false, help = false, bad = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--version") {
      std::puts("zero-check " ZERO_VERSION);
      return 0;
    }
    upToOrder |= argument == "--up-to-order";
    help |= argument == "--help";
    if (argument.rfind("--", 0) != 0)
      files.push_back(argument);
    else if (argument != "--up-to-order")
      bad = true;
  }
  if (help || bad || files.size() != 2) {
    std::fputs(kHelp, help ? stdout : stderr);
    return help ? 0 : 2;
  }
  try {
    std::fputs(zero::check::prove(files[0], files[1], upToOrder).c_str(), stdout);
    return 0;
  } catch (const std::exception &refusal) {
    std::fprintf(stderr, "zero-check: not proven: %s\n", refusal.what());
    return 1;
  }
}
