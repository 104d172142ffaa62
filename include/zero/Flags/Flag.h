//===- Flag.h - flags of tools ----------------------------------*- C++ -*-===//
// Each tool describes its flags in one table. What reads the command line, the help texts, the
// lists of flags as JSON and the completion of shells are derived from it.
//===----------------------------------------------------------------------===//

#ifndef ZERO_FLAGS_FLAG_H
#define ZERO_FLAGS_FLAG_H

#include "runtime/support/status.h"

#include <functional>
#include <map>
#include <vector>

namespace zero {

/// What the value of a flag is.
enum class ValueKind { Switch, Integer, Number, Bytes, Word, Text };

/// "switch", "integer", ...
const char *kindName(ValueKind kind);
/// The kind that the name of a value says: "N" is an integer, "X" a number, and none a switch.
ValueKind kindOf(const std::string &value);

/// Takes the text of a value; "true" of a switch. What is wrong with it is "expected a number, got
/// 'x'", or a sentence that begins with the flag.
using Setter = std::function<rt::Status(const std::string &)>;

/// One flag. Two flags may have one name if only one of them is a switch: `--name=value` is the
/// other one.
struct Flag {
  std::string group; ///< heading in help texts
  std::string name;  ///< without dashes; of one letter: one dash
  std::string value; ///< name of its value, or its words: "fp32|bf16|fp16"; empty of a switch
  std::string help;  ///< may have several lines; empty: no help text lists the flag
  Setter set = {};
  std::string with = {}; ///< the flag without which it has no effect; empty: none
  bool repeats = false;  ///< may be given more than once: values add up
  bool isLast = false;   ///< nothing after it is read, as after --help
  ValueKind kind = kindOf(value);
  std::string fallback = {};  ///< what holds without it, which help texts add; empty: nothing
  std::string heading = {};   ///< in the short help; empty: not there
  std::string brief = {};     ///< its help there
  std::string deepSpeed = {}; ///< the key of DeepSpeed's configuration that has this value

  /// "--name=VALUE", "--name=<one|two>" with words in brackets, or "-o FILE".
  std::string usage() const;
  /// "store values in 16 bits (fp32)".
  std::string meaning() const { return help + (fallback.empty() ? "" : " (" + fallback + ")"); }
  /// The words of a value that is one of several, "fp32|bf16|fp16"; else none.
  std::vector<std::string> words() const;
  bool isSwitch() const { return kind == ValueKind::Switch; }
  /// Whether the value has several parts, separated by commas.
  bool isList() const { return value.find(',') != std::string::npos; }

  Flag orElse(std::string text) && { return fallback = std::move(text), std::move(*this); }
  Flag inShort(const char *under, const char *text) && {
    return heading = under, brief = text, std::move(*this);
  }
  Flag fromDeepSpeed(const char *key) && { return deepSpeed = key, std::move(*this); }
  /// Refuses a value that is none of the words.
  Flag oneOfWords() &&;
};
using Flags = std::vector<Flag>;

/// The first flag of this name; null if there is none.
const Flag *findFlag(const Flags &flags, const std::string &name);

/// The text of a command line beside the setting of flags.
struct CommandLine {
  std::string model;                                    ///< the word that is no flag; empty: none
  std::map<std::string, std::string> given;             ///< the flags, with their first values
  std::vector<std::pair<std::string, std::string>> all; ///< the flags with values, in their order
  bool isDone = false;                                  ///< a flag such as --help was the last one
};

/// Reads `--name=value`, `--name value` and `--name` of a switch, and sets the flags in their
/// order.
/// `-` is no flag. Errors: an unknown flag, with the nearest known one and a `hint`; a flag that is
/// given twice and does not repeat; a value that is missing, or that a switch does not take; what
/// setters say; two models; a flag without the one that it needs.
rt::Status readCommandLine(const std::vector<std::string> &arguments, const Flags &flags,
                           CommandLine &line, const char *hint = "; see --help");

/// The flags under their headings, with help texts from `column` on.
std::string helpOf(const Flags &flags, size_t column = 28);
/// The flags of the short help under `headings`, with help texts from `column` on.
std::string shortHelpOf(const Flags &flags, const std::vector<std::string> &headings,
                        size_t column = 28);
/// The flags as JSON: name, kind, value, group and meaning of each.
std::string jsonOf(const Flags &flags);

Setter toSwitch(bool &field);
Setter toSwitch(int &field);
/// A text; not empty, but `what`, unless that is null.
Setter toText(std::string &field, const char *what = "a file");

/// Adds the flags that print a text and do nothing else: --help, --help-all if it differs,
/// --list-flags, --completion for shells, and --version. `flags` must outlive its setters.
void addTextFlags(Flags &flags, const std::string &tool, const char *group,
                  const std::function<std::string()> &help,
                  const std::function<std::string()> &helpOfAll = nullptr);

/// Takes a shell, bash or zsh, and prints what lets it complete the flags of `tool`.
Setter toCompletion(const std::string &tool, const Flags &flags);

/// Writes a text to standard output.
Setter toOutput(std::function<std::string()> text);

/// "expected WHAT, got 'GOT'".
rt::Status expected(const std::string &what, const std::string &got);

} // namespace zero

#endif // ZERO_FLAGS_FLAG_H
