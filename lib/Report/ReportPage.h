//===- ReportPage.h - the page of --report ----------------------*- C++ -*-===//

#ifndef LIB_REPORT_REPORTPAGE_H
#define LIB_REPORT_REPORTPAGE_H

namespace zero {

/// The page with "{{plan}}" where the JSON goes; its parts are in lib/Report/page.
extern const char *const kReportPage;

} // namespace zero

#endif // LIB_REPORT_REPORTPAGE_H
