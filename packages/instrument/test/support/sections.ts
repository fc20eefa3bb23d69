import { customSection as encodeCustomSection, leb } from '../../../../test/helpers/module-bytes.ts';

/** A cursor over bytes, for tests that look into sections without the package's own reader. */
interface Cursor {
  readonly u32: () => number;
  readonly name: () => string;
}

function cursor(bytes: Uint8Array): Cursor {
  let at = 0;
  const u32 = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const name = () => {
    const length = u32();
    at += length;
    return new TextDecoder().decode(bytes.subarray(at - length, at));
  };
  return { u32, name };
}

/** The contents of a custom section after its name, or undefined without one. */
export function customSection(bytes: Uint8Array, name: string): Uint8Array | undefined {
  const [section] = WebAssembly.Module.customSections(new WebAssembly.Module(new Uint8Array(bytes)), name);
  return section && new Uint8Array(section);
}

export interface SplitModule {
  /** The module with a custom section behind it. */
  readonly withCustom: (name: string, contents: Uint8Array) => Uint8Array;
  /** The module, whose name section comes last, with one more subsection in it. */
  readonly withNameSubsection: (subsection: Uint8Array) => Uint8Array;
  /** A cursor over a subsection of the name section. */
  readonly subsections: (id: number) => Cursor | undefined;
}

export function splitModule(bytes: Uint8Array): SplitModule {
  const names = customSection(bytes, 'name');
  return {
    withCustom: (name, contents) => Uint8Array.from([...bytes, ...encodeCustomSection(name, contents)]),
    withNameSubsection(subsection) {
      const old = encodeCustomSection('name', names ?? new Uint8Array());
      const rest = bytes.subarray(0, bytes.length - old.length);
      return Uint8Array.from([
        ...rest,
        ...encodeCustomSection('name', Uint8Array.from([...(names ?? []), ...subsection])),
      ]);
    },
    subsections(id) {
      for (let at = 0; names !== undefined && at < names.length; ) {
        const found = names[at++];
        const { u32 } = cursor(names.subarray(at));
        const size = u32();
        at += leb(size).length;
        if (found === id) return cursor(names.subarray(at, at + size));
        at += size;
      }
      return undefined;
    },
  };
}
