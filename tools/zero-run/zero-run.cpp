//===- zero-run.cpp - train a compiled model ------------------------------===//
//
// The command line of the runtime: options.h says what there is, run.h and train.h do it.
//
//===----------------------------------------------------------------------===//

#include "calibrate.h"
#include "launch.h"
#include "run.h"
#include "spinning.h"
#include "tools/process/process.h"

using namespace zero;
using namespace zero::rt;
using namespace zero::run;

int main(int argc, char **argv) {
  process::begin("zero-run", process::Ending::InOrder);
  Options options;
  if (Status status = parseOptions(argc, argv, options); !status.ok())
    return failed(status);
  if (options.isDone)
    return 0;
  if (isLauncher(options)) {
    int code = 0;
    Status status = launch(options, argv, code);
    return status.ok() ? code : failed(status);
  }
  if (options.session.threads_per_rank > 1)
    limitSpinning(argv); // before all the work
  if (options.calibration.empty())
    return runJob(options, argv);
  Status status = calibrate(options);
  return status.ok() ? 0 : failed(status);
}
