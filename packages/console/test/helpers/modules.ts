import {
  customSection,
  emptyType,
  leb,
  moduleOf,
  repeated,
  section,
  sized,
  text,
  vector,
} from '../../../../test/helpers/module-bytes.ts';
import type { Visitor } from './stage.ts';

/** Hands a file to the page that is open, as if the user had chosen it. */
export async function chooseFile({ page }: Visitor, name: string, bytes: Uint8Array): Promise<void> {
  const file = { name, mimeType: 'application/wasm', buffer: Buffer.from(bytes) };
  await page.locator('input[type=file]').setInputFiles(file);
}

/**
 * A module of functions that do nothing, with these names; the first is exported as `f`. Written byte by byte, since names that no text
 * format takes are legal in modules, and a text of half a million functions takes minutes.
 */
export function moduleOfNames(names: readonly string[]): Uint8Array {
  const count = names.length;
  const nameSection = Buffer.concat([Uint8Array.of(1), sized([leb(count), nameMap(names)])]);
  const module = moduleOf(
    [section.type, emptyType],
    [section.function, repeated(count, [0])],
    [section.export, vector([[...text('f'), 0, 0]])],
    [section.code, repeated(count, [2, 0, 0x0b])],
  );
  return new Uint8Array(Buffer.concat([module, customSection('name', nameSection)]));
}

/** Each index and name, one after the other; a buffer for each would take seconds for half a million. */
function nameMap(names: readonly string[]): Uint8Array {
  const map = Buffer.alloc(names.reduce((sum, name) => sum + 10 + Buffer.byteLength(name), 0));
  let at = 0;
  names.forEach((name, index) => {
    for (const byte of [...leb(index), ...leb(Buffer.byteLength(name))]) at = map.writeUInt8(byte, at);
    at += map.write(name, at);
  });
  return map.subarray(0, at);
}
