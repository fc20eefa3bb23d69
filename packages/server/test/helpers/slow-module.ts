/** Unsigned LEB128. */
function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}

const section = (id: number, ...parts: readonly Uint8Array[]): Buffer => {
  const length = parts.reduce((total, part) => total + part.length, 0);
  return Buffer.concat([Uint8Array.from([id, ...leb(length)]), ...parts]);
};
const header = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** Functions of seven bytes, each with 50,000 locals, which V8 makes and forgets for each: about 20 s for 100,000 of them. */
export function localsBomb(functions: number): Buffer {
  const body = Uint8Array.from([6, 1, ...leb(50_000), 0x7f, 0x0b]);
  const count = Uint8Array.from(leb(functions));
  return Buffer.concat([
    header,
    section(1, Uint8Array.of(1, 0x60, 0, 0)),
    section(3, count, Buffer.alloc(functions)),
    section(10, count, Buffer.alloc(functions * body.length, body)),
  ]);
}

/** A module of so many function types, of which no other module with another `salt` has one. */
export function manyTypes(types: number, salt: number): Buffer {
  const entry = 28;
  const bytes = Buffer.alloc(types * entry);
  for (let index = 0; index < types; index++) {
    bytes.set([0x60, 25], index * entry);
    const number = salt * types + index;
    for (let bit = 0; bit < 25; bit++) bytes[index * entry + 2 + bit] = 0x7f - ((number >> bit) & 1);
  }
  return Buffer.concat([header, section(1, Uint8Array.from(leb(types)), bytes)]);
}
