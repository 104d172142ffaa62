//===- DriveWear.h - bytes that wear drives out -----------------*- C++ -*-===//

#ifndef ZERO_PLANNING_DRIVEWEAR_H
#define ZERO_PLANNING_DRIVEWEAR_H

#include "zero/Planning/Machine.h"

namespace zero::planning {

/// What a step reads from and writes to drives, and how long they last.
struct DriveWear {
  double read = 0, written = 0; ///< bytes of all ranks that share the drives, in a step
  double seconds = 0;           ///< of a step; 0: not known
  double endurance = 0;         ///< bytes that may be written to all the drives; 0: not known
  double count = 1;             ///< of drives, over which bytes are striped evenly

  /// Bytes that are written in a day of steps; 0: not known.
  double writtenPerDay() const;
  /// Years of such days until the endurance is used up; 0: not known, or nothing is written.
  double years() const;
};

/// The drives of a node, of which each of `ranks` ranks reads and writes so many bytes in a step of
/// `seconds`.
DriveWear nodeDriveWear(const Machine &machine, double read, double written, int64_t ranks,
                        double seconds);

/// "2.3 MiB a step is 0.0166 TB a day, which uses up the endurance of 600 TB in 99.2 years";
/// what is not known is left out.
std::string wearText(const DriveWear &wear);

} // namespace zero::planning

#endif // ZERO_PLANNING_DRIVEWEAR_H
