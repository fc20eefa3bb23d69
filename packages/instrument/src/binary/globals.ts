import { readConstExpr } from './const-expr.ts';
import type { ByteReader } from './reader.ts';
import type { SectionVisitor } from './section-visitor.ts';
import { readGlobalType } from './types.ts';

/** https://webassembly.github.io/spec/core/binary/modules.html#global-section */
export function readGlobal(reader: ByteReader, visitor: SectionVisitor): void {
  const type = readGlobalType(reader);
  visitor.onGlobal?.(type);
  readConstExpr(reader, visitor);
}
