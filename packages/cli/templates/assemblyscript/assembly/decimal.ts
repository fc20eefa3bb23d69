// Reads and writes decimal numbers exactly. AssemblyScript's own functions lose digits.

const size = 48; // enough for the digits and exponents of every f64
const exact: f64[] = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/** Returns the f64 that is nearest to a number in JSON. */
export function parseDecimal(text: string): f64 {
  let mantissa: u64 = 0;
  let exponent = 0;
  let isCut = false; // whether digits beyond the mantissa's are not zero
  let isFraction = false;
  let at = 0;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code == 46) isFraction = true;
    if (code == 101 || code == 69) break;
    const digit = <u64>(code - 48);
    if (digit > 9) continue;
    const fits = mantissa < 1000000000000000000;
    if (fits) mantissa = mantissa * 10 + digit;
    else if (digit > 0) isCut = true;
    if (fits == isFraction) exponent += isFraction ? -1 : 1;
  }
  if (at < text.length) exponent += clampedInteger(text.substring(at + 1));
  const value = scale(mantissa, exponent, isCut);
  return text.startsWith("-") ? -value : value;
}

function clampedInteger(text: string): i32 {
  let value = 0;
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit >= 0) value = min(value * 10 + digit, 100000);
  }
  return text.startsWith("-") ? -value : value;
}

function scale(mantissa: u64, exponent: i32, isCut: bool): f64 {
  if (mantissa == 0 || exponent < -400) return 0;
  if (exponent > 310) return Infinity;
  if (!isCut && mantissa <= 9007199254740992 && exponent >= -22 && exponent <= 22) {
    return exponent < 0 ? <f64>mantissa / exact[-exponent] : <f64>mantissa * exact[exponent];
  }
  const numerator = natural(mantissa);
  const denominator = natural(1);
  if (isCut) {
    multiply(numerator, 10, 1);
    exponent--;
  }
  for (let step = 0; step < abs(exponent); step++) multiply(exponent < 0 ? denominator : numerator, 10, 0);
  let power = bits(numerator) - bits(denominator);
  if (power > 0) shift(denominator, power);
  else shift(numerator, -power);
  if (compare(numerator, denominator) < 0) {
    shift(numerator, 1);
    power--;
  }
  // The value is numerator / denominator × 2^power, and the quotient is from 1 to 2.
  const precision = power < -1022 ? 53 + 1022 + power : 53;
  if (precision < 0) return 0;
  let quotient: u64 = 0;
  for (let bit = 0; bit < precision; bit++) {
    quotient <<= 1;
    if (compare(numerator, denominator) >= 0) {
      subtract(numerator, denominator);
      quotient |= 1;
    }
    shift(numerator, 1);
  }
  const rest = compare(numerator, denominator);
  if (rest > 0 || (rest == 0 && (quotient & 1) == 1)) quotient++;
  if (precision == 53) quotient += <u64>(power + 1022) << 52;
  return power > 1023 ? Infinity : reinterpret<f64>(quotient);
}

/** Returns the shortest number that is read as the same value. */
export function formatDecimal(value: f64): string {
  const bits = reinterpret<u64>(value);
  let mantissa = bits & 0xfffffffffffff;
  let power = <i32>((bits >> 52) & 2047);
  if (value == 0) return bits == 0 ? "0" : "-0";
  const isEdge = mantissa == 0 && power > 1; // the gap below is half of that above
  if (power > 0) mantissa |= <u64>1 << 52;
  power = max(power, 1) - 1075;
  // The value is top / bottom. Numbers that differ by less than below / bottom or above / bottom are read as it.
  const top = natural(mantissa);
  const bottom = natural(1);
  const below = natural(1);
  const above = natural(1);
  const more = isEdge ? 2 : 1;
  shift(top, max(power, 0) + more);
  shift(bottom, max(-power, 0) + more);
  shift(below, max(power, 0));
  shift(above, max(power, 0) + more - 1);
  let exponent = 0;
  for (; ; exponent++) {
    // while the value is 10 or more
    const next = bottom.slice<StaticArray<u32>>();
    multiply(next, 10, 0);
    if (compare(top, next) < 0) break;
    multiply(bottom, 10, 0);
  }
  for (; compare(top, bottom) < 0; exponent--) {
    multiply(top, 10, 0);
    multiply(below, 10, 0);
    multiply(above, 10, 0);
  }
  const digits: i32[] = [];
  for (;;) {
    let digit = 0;
    for (; compare(top, bottom) >= 0; digit++) subtract(top, bottom);
    const upper = top.slice<StaticArray<u32>>();
    add(upper, above);
    const canStop = compare(top, below) < 0;
    const canRound = compare(upper, bottom) > 0;
    if (canStop || canRound) {
      shift(top, 1);
      digits.push(digit + (canRound && (!canStop || compare(top, bottom) >= 0) ? 1 : 0));
      break;
    }
    digits.push(digit);
    multiply(top, 10, 0);
    multiply(below, 10, 0);
    multiply(above, 10, 0);
  }
  for (let place = digits.length - 1; place > 0 && digits[place] > 9; place--) {
    digits[place] = 0;
    digits[place - 1]++;
  }
  if (digits[0] > 9) {
    digits[0] = 1;
    exponent++;
  }
  while (digits.length > 1 && digits[digits.length - 1] == 0) digits.pop();
  const sign = value < 0 ? "-" : "";
  const count = digits.length;
  const text = digits.join("");
  if (exponent >= 21 || exponent < -6) {
    return sign + text.charAt(0) + (count > 1 ? "." + text.substring(1) : "") + "e" + exponent.toString();
  }
  if (exponent < 0) return sign + "0." + "0".repeat(-exponent - 1) + text;
  if (count <= exponent + 1) return sign + text + "0".repeat(exponent + 1 - count);
  return sign + text.substring(0, exponent + 1) + "." + text.substring(exponent + 1);
}

// Natural numbers of many digits, the lowest first.

function natural(value: u64): StaticArray<u32> {
  const number = new StaticArray<u32>(size);
  number[0] = <u32>value;
  number[1] = <u32>(value >> 32);
  return number;
}

function add(to: StaticArray<u32>, amount: StaticArray<u32>): void {
  let carry: u64 = 0;
  for (let at = 0; at < size; at++) {
    carry += <u64>to[at] + amount[at];
    to[at] = <u32>carry;
    carry >>= 32;
  }
}

function multiply(number: StaticArray<u32>, factor: u64, carry: u64): void {
  for (let at = 0; at < size; at++) {
    carry += <u64>number[at] * factor;
    number[at] = <u32>carry;
    carry >>= 32;
  }
}

function shift(number: StaticArray<u32>, count: i32): void {
  const whole = count >> 5;
  const part = count & 31;
  for (let at = size - 1; at >= 0; at--) {
    const high = at >= whole ? number[at - whole] : 0;
    const low = at > whole ? number[at - whole - 1] : 0;
    number[at] = part == 0 ? high : (high << part) | (low >> (32 - part));
  }
}

function bits(number: StaticArray<u32>): i32 {
  let at = size - 1;
  while (at > 0 && number[at] == 0) at--;
  return at * 32 + 32 - clz(number[at]);
}

function compare(one: StaticArray<u32>, other: StaticArray<u32>): i32 {
  for (let at = size - 1; at >= 0; at--) if (one[at] != other[at]) return one[at] < other[at] ? -1 : 1;
  return 0;
}

function subtract(from: StaticArray<u32>, amount: StaticArray<u32>): void {
  let borrow: u64 = 0;
  for (let at = 0; at < size; at++) {
    const difference = <u64>from[at] - amount[at] - borrow;
    from[at] = <u32>difference;
    borrow = difference >> 63;
  }
}
