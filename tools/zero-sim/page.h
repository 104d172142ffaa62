//===- page.h - a simulated step as a web page ------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_SIM_PAGE_H
#define TOOLS_ZERO_SIM_PAGE_H

#include "report.h"

namespace zero::sim {

/// The report as HTML, with the timeline of rank 0 as a drawing. It needs no other file.
std::string reportPage(const Subject &subject, const Replay &replay);

} // namespace zero::sim

#endif // TOOLS_ZERO_SIM_PAGE_H
