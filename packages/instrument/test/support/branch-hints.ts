import { customSection } from './sections.ts';

const codeSection = 10;

/** Reads numbers one after the other, apart from the package's own reader. */
function readerAt(bytes: Uint8Array, start: number) {
  let at = start;
  return {
    at: () => at,
    skip: (length: number) => {
      at += length;
    },
    u32() {
      let value = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++] as number;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return value >>> 0;
      }
    },
  };
}

/** Where each body begins, behind its size. */
function bodyStarts(bytes: Uint8Array): number[] {
  const reader = readerAt(bytes, 8);
  while (reader.at() < bytes.length) {
    const id = bytes[reader.at()];
    reader.skip(1);
    const size = reader.u32();
    if (id !== codeSection) {
      reader.skip(size);
      continue;
    }
    return Array.from({ length: reader.u32() }, () => {
      const bodySize = reader.u32();
      const start = reader.at();
      reader.skip(bodySize);
      return start;
    });
  }
  return [];
}

/**
 * What the branch hints speak of: `FUNCTION: OPCODE=HINT …` for each function that has some, with the function counted from
 * the first that is not imported. Undefined without the section.
 */
export function hintedOpcodes(bytes: Uint8Array, importedFunctions: number): string[] | undefined {
  const section = customSection(bytes, 'metadata.code.branch_hint');
  if (section === undefined) return undefined;
  const starts = bodyStarts(bytes);
  const reader = readerAt(section, 0);
  return Array.from({ length: reader.u32() }, () => {
    const body = reader.u32() - importedFunctions;
    const hints = Array.from({ length: reader.u32() }, () => {
      const opcode = bytes[(starts[body] as number) + reader.u32()];
      reader.skip(1); // the size, which is one
      const hint = section[reader.at()];
      reader.skip(1);
      return `${opcode?.toString(16)}=${hint}`;
    });
    return `${body}: ${hints.join(' ')}`;
  });
}
