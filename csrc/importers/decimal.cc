#include "importers/decimal.h"

#include <stddef.h>

namespace rlscope::importers {
namespace {

constexpr size_t kMostDigits = 400;
constexpr int kMostExponent = 1000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// digits[0, count) * 10^exponent.
struct Digits {
  char digits[kMostDigits];
  size_t count = 0;
  int exponent = 0;
};

// Leading zeros are left out. False: too many.
bool TakeDigits(std::string_view* text, bool fraction, bool* any, Digits* found) {
  while (!text->empty() && IsDigit(text->front())) {
    const char digit = text->front();
    text->remove_prefix(1);
    *any = true;
    if (fraction) --found->exponent;
    if (digit == '0' && found->count == 0) continue;
    if (found->count == kMostDigits) return false;
    found->digits[found->count++] = digit;
  }
  return true;
}

bool TakeExponent(std::string_view* text, Digits* found) {
  if (text->empty() || (text->front() != 'e' && text->front() != 'E')) return true;
  text->remove_prefix(1);
  bool negative = false;
  if (!text->empty() && (text->front() == '+' || text->front() == '-')) {
    negative = text->front() == '-';
    text->remove_prefix(1);
  }
  if (text->empty()) return false;
  int exponent = 0;
  while (!text->empty() && IsDigit(text->front())) {
    if (exponent < kMostExponent) exponent = 10 * exponent + (text->front() - '0');
    text->remove_prefix(1);
  }
  found->exponent += negative ? -exponent : exponent;
  return true;
}

bool Round(const Digits& found, bool negative, int64_t* value) {
  constexpr uint64_t kMost = INT64_MAX;
  const int kept = static_cast<int>(found.count) + found.exponent;  // digits before the point
  if (found.count == 0 || kept < 0) {
    *value = 0;
    return true;
  }
  uint64_t whole = 0;
  for (int i = 0; i < kept; ++i) {
    const bool given = static_cast<size_t>(i) < found.count;
    const uint64_t digit = given ? static_cast<uint64_t>(found.digits[i] - '0') : 0;
    if (whole > (kMost - digit) / 10) return false;
    whole = 10 * whole + digit;
  }
  if (static_cast<size_t>(kept) < found.count && found.digits[kept] >= '5') ++whole;
  if (whole > kMost) return false;
  *value = negative ? -static_cast<int64_t>(whole) : static_cast<int64_t>(whole);
  return true;
}

// Reads what nearly all numbers are: a few digits, with fewer after the point than `scale` asks
// for. False: the number is of another kind.
bool ParseShort(std::string_view text, int scale, int64_t* value) {
  constexpr size_t kMost = 18;  // digits of which no sum overflows
  int64_t whole = 0;
  size_t digits = 0;
  int missing = scale;
  bool in_fraction = false;
  for (const char c : text) {
    if (c == '.' && !in_fraction && digits > 0) {
      in_fraction = true;
      continue;
    }
    if (!IsDigit(c) || ++digits > kMost) return false;
    whole = 10 * whole + (c - '0');
    missing -= in_fraction;
  }
  if (digits == 0 || missing < 0 || digits + static_cast<size_t>(missing) > kMost) return false;
  for (; missing > 0; --missing) whole *= 10;
  *value = whole;
  return true;
}

}  // namespace

bool ParseDecimal(std::string_view text, int scale, int64_t* value) {
  if (ParseShort(text, scale, value)) return true;
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  Digits found;
  bool any = false;
  if (!TakeDigits(&text, /*fraction=*/false, &any, &found)) return false;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    if (!TakeDigits(&text, /*fraction=*/true, &any, &found)) return false;
  }
  if (!any || !TakeExponent(&text, &found) || !text.empty()) return false;
  found.exponent += scale;
  return Round(found, negative, value);
}

}  // namespace rlscope::importers
