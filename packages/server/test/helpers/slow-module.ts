import { emptyType, leb, moduleOf, repeated, section, sized } from '../../../../test/helpers/module-bytes.ts';

/** Functions of seven bytes, each with 50,000 locals, which V8 makes and forgets for each: about 20 s for 100,000 of them. */
export function localsBomb(functions: number): Buffer {
  const body = sized([[1, ...leb(50_000), 0x7f, 0x0b]]);
  return Buffer.from(
    moduleOf(
      [section.type, emptyType],
      [section.function, repeated(functions, [0])],
      [section.code, repeated(functions, [...body])],
    ),
  );
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
  return Buffer.from(moduleOf([section.type, Buffer.concat([Uint8Array.from(leb(types)), bytes])]));
}
