#include "apps/chat/text_functions.h"

#include <cctype>

namespace spectr::chat {

std::string strip(const std::string& text, const Value& characters, bool left, bool right) {
  const std::string set = characters.string() == nullptr ? " \t\r\n\v\f" : *characters.string();
  const std::size_t begin = left ? text.find_first_not_of(set) : 0;
  if (begin == std::string::npos) return "";
  const std::size_t end = right ? text.find_last_not_of(set) : text.size() - 1;
  return end == std::string::npos ? "" : text.substr(begin, end + 1 - begin);
}

Value replaced(Run& run, const std::string& text, const Arguments& arguments) {
  const Value from = arguments.get(0, "old"), to = arguments.get(1, "new");
  if (from.string() == nullptr || to.string() == nullptr || from.string()->empty()) {
    throw TemplateError("replace takes two strings, the first not empty");
  }
  std::string out;
  std::size_t at = 0;
  for (std::size_t found = text.find(*from.string()); found != std::string::npos;
       found = text.find(*from.string(), at)) {
    run.charge(to);
    out.append(text, at, found - at).append(*to.string());
    at = found + from.string()->size();
  }
  return out.append(text, at);
}

std::string in_case(const std::string& text, Case which) {
  std::string out = text;
  bool starts = true;
  for (char& c : out) {
    const bool up = which == Case::upper || (which != Case::lower && starts);
    starts = which == Case::title && std::isalnum(static_cast<unsigned char>(c)) == 0;
    c = static_cast<char>(up ? std::toupper(static_cast<unsigned char>(c))
                             : std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace spectr::chat
