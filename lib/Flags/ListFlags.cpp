//===- ListFlags.cpp - flags as text and as JSON --------------------------===//

#include "zero/Flags/Flag.h"

#include "runtime/support/json_writer.h"

#include <algorithm>

using namespace zero::rt;

namespace zero {

const char *kindName(ValueKind kind) {
  static constexpr const char *names[] = {"switch", "integer", "number", "bytes", "word", "text"};
  return names[size_t(kind)];
}

std::string Flag::usage() const {
  const bool isLetter = name.size() == 1;
  const std::string text = (isLetter ? "-" : "--") + name;
  if (isSwitch())
    return text;
  const bool isPlaceholder =
      std::ranges::any_of(value, [](char c) { return c >= 'A' && c <= 'Z'; });
  return text + (isLetter ? " " : "=") + (isPlaceholder ? value : "<" + value + ">");
}

std::vector<std::string> Flag::words() const {
  std::vector<std::string> words;
  const bool isWords =
      std::ranges::all_of(value, [](char c) { return (c < 'A' || c > 'Z') && c != ','; });
  if (!isWords || value.find('|') == std::string::npos)
    return words;
  for (size_t begin = 0, end = 0; end < value.size(); begin = end + 1)
    words.push_back(
        value.substr(begin, (end = std::min(value.find('|', begin), value.size())) - begin));
  return words;
}

Flag Flag::oneOfWords() && {
  std::string list;
  const std::vector<std::string> all = words();
  for (const std::string &word : all)
    list += (list.empty() ? "" : &word == &all.back() ? " or " : ", ") + word;
  set = [all, list, take = std::move(set)](const std::string &text) {
    return std::ranges::count(all, text) ? take(text) : expected(list, text);
  };
  return std::move(*this);
}

/// A line of help, or several.
static std::string lineOf(const Flag &flag, const std::string &help, size_t column) {
  std::string text = "  " + flag.usage();
  text.resize(std::max(text.size() + 1, column), ' ');
  for (char c : help)
    text += c == '\n' ? "\n" + std::string(column, ' ') : std::string(1, c);
  return text + "\n";
}

std::string helpOf(const Flags &flags, size_t column) {
  std::string text, group;
  for (const Flag &flag : flags) {
    if (flag.help.empty())
      continue;
    if (group != flag.group)
      text += "\n" + (group = flag.group) + "\n";
    text += lineOf(flag, flag.meaning(), column);
  }
  return text;
}

std::string shortHelpOf(const Flags &flags, const std::vector<std::string> &headings,
                        size_t column) {
  std::string text;
  for (const std::string &heading : headings) {
    text += heading + "\n";
    for (const Flag &flag : flags)
      if (flag.heading == heading)
        text += lineOf(flag, flag.brief, column);
  }
  return text;
}

std::string jsonOf(const Flags &flags) {
  JsonWriter json;
  json.array(
      [&] {
        for (const Flag &flag : flags)
          json.object(
              [&] {
                json.member("flag", flag.name);
                json.member("usage", flag.usage());
                json.member("kind", kindName(flag.kind));
                json.member("list", flag.isList());
                json.member("repeats", flag.repeats);
                json.member("value", flag.value);
                json.member("of", flag.group);
                json.member("meaning", flag.meaning());
              },
              JsonWriter::Lines);
      },
      JsonWriter::Lines);
  return json.text() + "\n";
}

void addTextFlags(Flags &flags, const std::string &tool, const char *group,
                  const std::function<std::string()> &help,
                  const std::function<std::string()> &helpOfAll) {
  auto add = [&](const char *name, const char *value, const std::string &meaning, Setter set) {
    flags.push_back({group, name, value, meaning, std::move(set), /*with=*/"", /*repeats=*/false,
                     /*isLast=*/true});
  };
  add("help", "", helpOfAll ? "print common options" : "print this text", toOutput(help));
  add("h", "", "", toOutput(help));
  if (helpOfAll)
    add("help-all", "", "print all options", toOutput(helpOfAll));
  add("list-flags", "", "print the options as JSON", toOutput([&flags] { return jsonOf(flags); }));
  add("completion", "bash|zsh",
      "print what completes options in a shell:\nsource <(" + tool + " --completion=bash)",
      toCompletion(tool, flags));
  flags.back() = std::move(flags.back()).oneOfWords();
  add("version", "", "print the version",
      toOutput([tool] { return tool + " " ZERO_VERSION "\n"; }));
}

} // namespace zero
