import { invalidModule, limitExceeded } from '../errors.ts';
import { maxExports } from '../limits.ts';
import { type ExternalKind, readExternalKind } from './imports.ts';
import { createNameSet } from './name-set.ts';
import { type ByteReader, decodeUtf8, expectEnd, readCount, readU32, skipName } from './reader.ts';

export interface Export {
  /** The bounds of its name in the module. */
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly kind: ExternalKind;
  readonly index: number;
  /** The offsets of the index and of the end of the entry. */
  readonly indexStart: number;
  readonly end: number;
}

/** The name of an export of a module, which {@link readExports} has checked. */
export function exportName({ bytes }: { readonly bytes: Uint8Array }, { nameStart, nameEnd }: Export): string {
  return decodeUtf8(bytes, nameStart, nameEnd) ?? '';
}

/** Reads the export section, and checks the indices. https://webassembly.github.io/spec/core/binary/modules.html#export-section */
export function readExports(reader: ByteReader | undefined, spaces: Record<ExternalKind, number>): Export[] {
  if (reader === undefined) return [];
  const { bytes } = reader;
  const exports: Export[] = [];
  const exportCount = readCount(reader, 'the number of exports', 3);
  if (exportCount > maxExports) throw limitExceeded('exports', exportCount, maxExports, reader.offset);
  const names = createNameSet(bytes, exportCount);
  for (let entry = 0; entry < exportCount; entry++) {
    const start = reader.offset;
    const nameStart = skipName(reader, "an export's name");
    const nameEnd = reader.offset;
    if (!names.add(nameStart, nameEnd)) {
      const name = JSON.stringify(decodeUtf8(bytes, nameStart, nameEnd));
      throw invalidModule(`Expected export names to differ, found ${name} twice`, start);
    }
    const kind = readExternalKind(reader);
    const indexStart = reader.offset;
    const index = readU32(reader, "an export's index");
    if (index >= spaces[kind]) {
      throw invalidModule(`Expected one of ${spaces[kind]} ${kind} indices, found ${index}`, indexStart);
    }
    exports.push({ nameStart, nameEnd, kind, index, indexStart, end: reader.offset });
  }
  expectEnd(reader, 'the export section');
  return exports;
}
