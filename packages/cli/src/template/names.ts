/**
 * Returns distinct names, each as close as possible to the wanted one.
 *
 * @param key returns what must differ, such as the name in lower case
 */
export function distinctNames(
  wanted: readonly string[],
  taken: ReadonlySet<string>,
  key: (name: string) => string = (name) => name,
): string[] {
  const used = new Set(taken);
  return wanted.map((base) => {
    let name = base;
    for (let number = 2; used.has(key(name)); number++) name = `${base}_${number}`;
    used.add(key(name));
    return name;
  });
}

/** Returns distinct identifiers for names of a schema, by name. A `_` follows a reserved word. */
export function identifiers(
  names: readonly string[],
  reserved: ReadonlySet<string>,
  style: (name: string) => string = (name) => name,
): ReadonlyMap<string, string> {
  const wanted = names.map((name) => {
    const styled = style(name.replaceAll('$', '_')).replace(/^(?![A-Za-z_])/, 'x');
    return reserved.has(styled) || /^_+$/.test(styled) ? `${styled}_` : styled;
  });
  // A name that is taken as it stands stays; others give way to it.
  const plain = new Set(names.filter((name, at) => wanted[at] === name));
  const others = distinctNames(
    wanted.filter((name, at) => names[at] !== name),
    new Set([...plain, ...reserved]),
  );
  let next = 0;
  return new Map(names.map((name) => [name, plain.has(name) ? name : (others[next++] as string)]));
}

/** Returns the members of an enumeration, whose values can be any text. */
export function memberNames(
  values: readonly string[],
  reserved: ReadonlySet<string>,
  style: (name: string) => string = (name) => name,
): string[] {
  const wanted = values.map((value) => {
    const cleaned = value.replace(/[^A-Za-z0-9_]/g, '_').slice(0, 100);
    const name = style(/^_*$/.test(cleaned) ? `value${cleaned}` : cleaned.replace(/^(?=\d)/, '_'));
    return reserved.has(name) ? `${name}_` : name;
  });
  return distinctNames(wanted, reserved);
}

export function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase();
}

export function pascalCase(name: string): string {
  const joined = name.replace(/(?:^|_+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase());
  return /^[A-Z]/.test(joined) ? joined : `X${joined}`;
}

/** A string literal. `escapeCode` writes a code point that is not printable ASCII. */
export function quote(text: string, escapeCode = (code: number) => `\\u{${code.toString(16)}}`): string {
  const escaped = text
    .toWellFormed()
    .replace(/["\\]|[^\x20-\x7e]/gu, (unit) =>
      unit === '"' || unit === '\\' ? `\\${unit}` : escapeCode(unit.codePointAt(0) as number),
    );
  return `"${escaped}"`;
}
