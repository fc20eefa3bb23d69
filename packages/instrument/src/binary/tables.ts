import { readConstExpr } from './const-expr.ts';
import { type ByteReader, skipBytes } from './reader.ts';
import type { SectionVisitor } from './section-visitor.ts';
import { readTableType } from './types.ts';

/** Reads a table and its initializer, if it has one. https://webassembly.github.io/spec/core/binary/modules.html#table-section */
export function readTable(reader: ByteReader, visitor: SectionVisitor): void {
  const hasInitializer = reader.bytes[reader.offset] === 0x40;
  if (hasInitializer) skipBytes(reader, 2, 'a table with an initializer');
  const type = readTableType(reader);
  visitor.onTable?.(type, hasInitializer);
  if (hasInitializer) readConstExpr(reader, visitor);
}
