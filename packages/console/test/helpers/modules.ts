import type { Visitor } from './stage.ts';

/** Hands a file to the page that is open, as if somebody had chosen it. */
export async function chooseFile({ page }: Visitor, name: string, bytes: Uint8Array): Promise<void> {
  const file = { name, mimeType: 'application/wasm', buffer: Buffer.from(bytes) };
  await page.locator('input[type=file]').setInputFiles(file);
}

/** A number as modules write it: https://webassembly.github.io/spec/core/binary/values.html#integers */
function leb128(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest === 0 ? low : low + 128);
  } while (rest !== 0);
  return bytes;
}

const concat = (parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));
const sized = (content: Uint8Array): Uint8Array => concat([Uint8Array.from(leb128(content.length)), content]);
const section = (id: number, content: Uint8Array): Uint8Array => concat([Uint8Array.of(id), sized(content)]);

/**
 * A module of functions that do nothing, with these names; the first is exported as `f`. Written byte by byte, since names that no text
 * format takes are legal in modules, and a text of half a million functions takes minutes.
 */
export function moduleOfNames(names: readonly string[]): Uint8Array {
  const count = Uint8Array.from(leb128(names.length));
  const text = (value: string): Uint8Array => sized(new TextEncoder().encode(value));
  return concat([
    Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0),
    section(1, Uint8Array.of(1, 0x60, 0, 0)),
    section(3, concat([count, new Uint8Array(names.length)])),
    section(7, concat([Uint8Array.of(1), text('f'), Uint8Array.of(0, 0)])),
    section(10, concat([count, Buffer.alloc(3 * names.length, Uint8Array.of(2, 0, 0x0b))])),
    section(0, concat([text('name'), Uint8Array.of(1), sized(concat([count, nameMap(names)]))])),
  ]);
}

/** Each index and name, one after the other; a buffer for each would take seconds for half a million. */
function nameMap(names: readonly string[]): Uint8Array {
  const map = Buffer.alloc(names.reduce((sum, name) => sum + 10 + Buffer.byteLength(name), 0));
  let at = 0;
  names.forEach((name, index) => {
    for (const byte of [...leb128(index), ...leb128(Buffer.byteLength(name))]) at = map.writeUInt8(byte, at);
    at += map.write(name, at);
  });
  return map.subarray(0, at);
}
