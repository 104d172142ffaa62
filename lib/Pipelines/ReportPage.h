//===- ReportPage.h - the page of --report ----------------------*- C++ -*-===//

#ifndef LIB_PIPELINES_REPORTPAGE_H
#define LIB_PIPELINES_REPORTPAGE_H

namespace zero {

/// The page with "{{plan}}" where the JSON goes; its parts lie in lib/Pipelines/report.
extern const char *const kReportPage;

} // namespace zero

#endif // LIB_PIPELINES_REPORTPAGE_H
