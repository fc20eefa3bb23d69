/**
 * Reads the path of a mangled name without the types and template arguments: as far as needed to find its namespaces. What
 * can't be read ends the path.
 */

/** The components of a mangled name, the function's own name included where it can be read; undefined for another name. */
export function readMangledPath(name: string): readonly string[] | undefined {
  if (/^_{1,3}R[CNMXYI]/.test(name)) return readRustPath(name);
  const start = /^_{1,4}Z(?:Z|L|GV|GR|T[VTISCWH]|Th?n?\d+_|Tvn?\d+_n?\d+_)*/.exec(name)?.[0].length;
  return start === undefined ? undefined : readItaniumPath(name, start);
}

/** The names that Itanium mangling abbreviates. */
const abbreviations: Readonly<Record<string, readonly string[]>> = {
  St: ['std'],
  Sa: ['std', 'allocator'],
  Sb: ['std', 'basic_string'],
  Ss: ['std', 'string'],
  Si: ['std', 'istream'],
  So: ['std', 'ostream'],
  Sd: ['std', 'iostream'],
};

/** https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling-structure, also used by Rust's older mangling */
function readItaniumPath(name: string, start: number): string[] {
  const nested = /^N[rVK]*[RO]?/.exec(name.slice(start, start + 6))?.[0].length ?? 0;
  let at = start + nested;
  const abbreviated = abbreviations[name.slice(at, at + 2)] ?? [];
  const path = [...abbreviated];
  if (abbreviated.length > 0) at += 2;
  for (;;) {
    if (name[at] === 'L') at++;
    const found = readIdentifier(name, at);
    if (found === undefined) break;
    path.push(found.text);
    at = found.end;
    if (nested === 0) break;
  }
  const isRust = path.length > 1 && /^h[0-9a-f]{16}$/.test(path.at(-1) as string);
  if (isRust) return path.slice(0, -1).map(decodeRustEscapes);
  // Template arguments follow the last component: it is a class, or the function itself.
  return name[at] === 'I' || /^[CD]\d/.test(name.slice(at, at + 2)) ? [...path, ''] : path;
}

/** A decimal length, then as many bytes. */
function readIdentifier(name: string, at: number): { readonly text: string; readonly end: number } | undefined {
  const digits = /^[1-9]\d{0,4}/.exec(name.slice(at, at + 5))?.[0];
  if (digits === undefined) return undefined;
  const textAt = at + digits.length;
  const end = textAt + Number(digits);
  return end > name.length ? undefined : { text: name.slice(textAt, end), end };
}

const rustEscapes: Readonly<Record<string, string>> = {
  SP: '@',
  BP: '*',
  RF: '&',
  LT: '<',
  GT: '>',
  LP: '(',
  RP: ')',
  C: ',',
};

/** Rust's older mangling escapes what linkers don't accept: `_$LT$alloc..vec..Vec$u20$as` … */
function decodeRustEscapes(text: string): string {
  return text
    .replace(/^_(?=\$)/, '')
    .replaceAll(/\$(?:u([0-9a-f]{2,5})|([A-Z]{1,2}))\$/g, (whole, hex: string | undefined, code: string) =>
      hex === undefined ? (rustEscapes[code] ?? whole) : decodePoint(Number.parseInt(hex, 16), whole),
    )
    .replaceAll('..', '::');
}

function decodePoint(point: number, whole: string): string {
  return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
}

/** Bounds the nesting of paths and of back references, which could form a chain of any length. */
const maxDepth = 64;

/** Rust's newer mangling. https://doc.rust-lang.org/rustc/symbol-mangling/v0.html */
function readRustPath(name: string): string[] {
  const base = name.indexOf('R') + 1;
  let at = base;

  /** Returns a path's components. Sets `at` to -1 after a part that is not read, which ends the path. */
  function readPath(depth: number): string[] {
    const tag = name[at++];
    if (depth > maxDepth) return unread();
    if (tag === 'C') return readName();
    if (tag === 'N') {
      at++;
      const outer = readPath(depth + 1);
      if (outer.length === 0) return unread();
      return [...outer, ...(at === -1 ? [''] : readName())];
    }
    if (tag === 'I') {
      const generic = readPath(depth + 1);
      at = -1;
      return generic;
    }
    if (tag === 'M' || tag === 'X') {
      skipDisambiguator();
      const impl = readPath(depth + 1);
      const type = at !== -1 && /[CNMXYIB]/.test(name[at] ?? '') ? readPath(depth + 1) : [];
      at = -1;
      // The implementation's crate counts: `impl Trait for Vec` is not code of the crate of Vec.
      return type.length > 0 && type[0] === impl[0] ? type : impl;
    }
    if (tag === 'B') return readBackReference(depth);
    return unread();
  }

  function unread(): string[] {
    at = -1;
    return [];
  }

  function readBackReference(depth: number): string[] {
    const digits = /^[0-9a-zA-Z]{0,6}_/.exec(name.slice(at, at + 7))?.[0];
    const target = digits === undefined ? Number.NaN : base + readBase62(digits);
    if (digits === undefined || target >= at - 1) return unread();
    const after = at + digits.length;
    at = target;
    const path = readPath(depth + 1);
    if (at !== -1) at = after;
    return path;
  }

  function skipDisambiguator(): void {
    at += /^s[0-9a-zA-Z]{0,12}_/.exec(name.slice(at, at + 14))?.[0].length ?? 0;
  }

  function readName(): string[] {
    skipDisambiguator();
    if (name[at] === 'u') at++;
    const [, digits, separator] = /^(0|[1-9]\d{0,4})(_?)/.exec(name.slice(at, at + 6)) ?? [];
    if (digits === undefined || separator === undefined) return unread();
    const textAt = at + digits.length + separator.length;
    at = textAt + Number(digits);
    return at > name.length ? unread() : [name.slice(textAt, at)];
  }

  return readPath(0);
}

/** `_` is 0, `0_` is 1, `Z_` is 62. */
function readBase62(digits: string): number {
  if (digits === '_') return 0;
  const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
  return [...digits.slice(0, -1)].reduce((value, digit) => value * 62 + alphabet.indexOf(digit), 0) + 1;
}
