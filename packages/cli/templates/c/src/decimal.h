/* Reads and writes decimal numbers exactly, without a C library. */
#pragma once

#include "extism.h"

/* A natural number of many digits, the lowest first: enough for every double. */
#define NUMBER_SIZE 48
struct number {
  uint32_t digits[NUMBER_SIZE];
};

LIBRARY void number_multiply(struct number *number, uint32_t factor) {
  uint64_t carry = 0;
  for (int at = 0; at < NUMBER_SIZE; at++) {
    carry += (uint64_t)number->digits[at] * factor;
    number->digits[at] = (uint32_t)carry;
    carry >>= 32;
  }
}

LIBRARY void number_power(struct number *number, int exponent) {
  while (exponent-- > 0) number_multiply(number, 10);
}

LIBRARY void number_shift(struct number *number, int count) {
  int whole = count / 32, part = count % 32;
  for (int at = NUMBER_SIZE - 1; at >= 0; at--) {
    uint32_t high = at >= whole ? number->digits[at - whole] : 0;
    uint32_t low = at > whole ? number->digits[at - whole - 1] : 0;
    number->digits[at] = part == 0 ? high : high << part | low >> (32 - part);
  }
}

LIBRARY int number_bits(const struct number *number) {
  for (int at = NUMBER_SIZE - 1; at >= 0; at--) {
    if (number->digits[at] != 0) return at * 32 + 32 - __builtin_clz(number->digits[at]);
  }
  return 0;
}

LIBRARY int number_compare(const struct number *one, const struct number *other) {
  for (int at = NUMBER_SIZE - 1; at >= 0; at--) {
    if (one->digits[at] != other->digits[at]) return one->digits[at] < other->digits[at] ? -1 : 1;
  }
  return 0;
}

LIBRARY void number_add(struct number *to, const struct number *amount, bool is_subtraction) {
  int64_t carry = 0;
  for (int at = 0; at < NUMBER_SIZE; at++) {
    carry += (int64_t)to->digits[at] + (is_subtraction ? -(int64_t)amount->digits[at] : (int64_t)amount->digits[at]);
    to->digits[at] = (uint32_t)carry;
    carry >>= 32;
  }
}

/* The double that is nearest to mantissa × 10^exponent; with `is_cut`, to a number that is a little greater. */
LIBRARY double decimal_scale(uint64_t mantissa, int exponent, bool is_cut) {
  if (mantissa == 0 || exponent < -400) return 0;
  if (exponent > 310) return __builtin_inf();
  struct number top = {{(uint32_t)mantissa, (uint32_t)(mantissa >> 32)}}, bottom = {{1}};
  if (is_cut) {
    struct number one = {{1}};
    number_multiply(&top, 10);
    number_add(&top, &one, false);
    exponent--;
  }
  number_power(exponent < 0 ? &bottom : &top, exponent < 0 ? -exponent : exponent);
  int power = number_bits(&top) - number_bits(&bottom);
  number_shift(power > 0 ? &bottom : &top, power > 0 ? power : -power);
  if (number_compare(&top, &bottom) < 0) {
    number_shift(&top, 1);
    power--;
  }
  /* The value is top / bottom × 2^power, and the quotient is from 1 to 2. */
  int precision = power < -1022 ? 53 + 1022 + power : 53;
  if (precision < 0) return 0;
  uint64_t quotient = 0;
  for (int bit = 0; bit < precision; bit++) {
    quotient <<= 1;
    if (number_compare(&top, &bottom) >= 0) {
      number_add(&top, &bottom, true);
      quotient |= 1;
    }
    number_shift(&top, 1);
  }
  int rest = number_compare(&top, &bottom);
  if (rest > 0 || (rest == 0 && quotient % 2 == 1)) quotient++;
  if (power > 1023) return __builtin_inf();
  if (precision == 53) quotient += (uint64_t)(power + 1022) << 52;
  double value;
  memcpy(&value, &quotient, 8);
  return value;
}

/* Reads a number in JSON. */
LIBRARY double decimal_read(struct bytes text) {
  uint64_t mantissa = 0;
  int exponent = 0, written = 0;
  bool is_cut = false, is_fraction = false, is_negative = text.length > 0 && text.at[0] == '-';
  size_t at = is_negative ? 1 : 0;
  for (; at < text.length && (text.at[at] | 32) != 'e'; at++) {
    if (text.at[at] == '.') {
      is_fraction = true;
      continue;
    }
    uint8_t digit = text.at[at] - '0';
    bool fits = mantissa < 1000000000000000000;
    if (fits) mantissa = mantissa * 10 + digit;
    else if (digit > 0) is_cut = true;
    if (fits == is_fraction) exponent += is_fraction ? -1 : 1;
  }
  bool is_small = at + 1 < text.length && text.at[at + 1] == '-';
  for (at++; at < text.length; at++) {
    if (text.at[at] >= '0' && written < 100000) written = written * 10 + (text.at[at] - '0');
  }
  double value = decimal_scale(mantissa, exponent + (is_small ? -written : written), is_cut);
  return is_negative ? -value : value;
}

LIBRARY size_t integer_write(uint64_t value, bool is_negative, char *to) {
  char digits[20];
  size_t length = 0, at = 0;
  do digits[length++] = (char)('0' + value % 10);
  while ((value /= 10) > 0);
  if (is_negative) to[at++] = '-';
  while (length > 0) to[at++] = digits[--length];
  return at;
}

/* Writes the shortest number that is read as the same value. `to` has room for 32 bytes. */
LIBRARY size_t decimal_write(double value, char *to) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  size_t at = 0;
  if (bits >> 63 != 0) to[at++] = '-';
  int power = (int)(bits >> 52 & 2047);
  uint64_t mantissa = bits & 0xfffffffffffff;
  if (power == 0 && mantissa == 0) return to[at++] = '0', at;
  bool is_edge = mantissa == 0 && power > 1; /* the gap below is half of that above */
  mantissa |= power == 0 ? 0 : (uint64_t)1 << 52;
  power = (power == 0 ? 1 : power) - 1075;
  /* The value is top / bottom, and the numbers nearer than below / bottom and above / bottom are read as it. */
  struct number top = {{(uint32_t)mantissa, (uint32_t)(mantissa >> 32)}}, bottom = {{1}}, below = {{1}}, above = {{1}};
  int more = is_edge ? 2 : 1;
  number_shift(&top, (power > 0 ? power : 0) + more);
  number_shift(&bottom, (power < 0 ? -power : 0) + more);
  number_shift(&below, power > 0 ? power : 0);
  number_shift(&above, (power > 0 ? power : 0) + more - 1);
  int exponent = 0;
  for (;; exponent++) { /* while the value is 10 or more */
    struct number next = bottom;
    number_multiply(&next, 10);
    if (number_compare(&top, &next) < 0) break;
    bottom = next;
  }
  for (; number_compare(&top, &bottom) < 0; exponent--) { /* while it is less than 1 */
    number_multiply(&top, 10);
    number_multiply(&below, 10);
    number_multiply(&above, 10);
  }
  char digits[24];
  int count = 0;
  for (;;) {
    char digit = '0';
    for (; number_compare(&top, &bottom) >= 0; digit++) number_add(&top, &bottom, true);
    struct number upper = top;
    number_add(&upper, &above, false);
    bool can_stop = number_compare(&top, &below) < 0, can_round = number_compare(&upper, &bottom) > 0;
    if (can_stop || can_round || count == 17) {
      number_shift(&top, 1);
      if (can_round && (!can_stop || number_compare(&top, &bottom) >= 0)) digit++;
      digits[count++] = digit;
      break;
    }
    digits[count++] = digit;
    number_multiply(&top, 10);
    number_multiply(&below, 10);
    number_multiply(&above, 10);
  }
  for (int place = count - 1; place > 0 && digits[place] > '9'; place--) digits[place] = '0', digits[place - 1]++;
  if (digits[0] > '9') digits[0] = '1', exponent++;
  while (count > 1 && digits[count - 1] == '0') count--;
  if (exponent >= -6 && exponent < 21) { /* 0.0012, 123.45 */
    if (exponent < 0) {
      to[at++] = '0', to[at++] = '.';
      for (int zeros = exponent + 1; zeros < 0; zeros++) to[at++] = '0';
      for (int place = 0; place < count; place++) to[at++] = digits[place];
      return at;
    }
    for (int place = 0; place <= exponent || place < count; place++) {
      if (place == exponent + 1) to[at++] = '.';
      to[at++] = place < count ? digits[place] : '0';
    }
    return at;
  }
  to[at++] = digits[0];
  if (count > 1) to[at++] = '.';
  for (int place = 1; place < count; place++) to[at++] = digits[place];
  to[at++] = 'e';
  return at + integer_write((uint64_t)(exponent < 0 ? -exponent : exponent), exponent < 0, to + at);
}
