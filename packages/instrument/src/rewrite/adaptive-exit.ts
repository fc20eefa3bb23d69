import { emptyBlock, f64Op, i32Op, i64Op, Op } from '../binary/opcodes.ts';
import { f64Type, i32Type } from '../binary/types.ts';
import { writeByte } from '../binary/writer.ts';
import type { AdaptiveLayout } from './adaptive.ts';
import { type GeneratedFunction, writeInstructions } from './instructions.ts';
import type { Layout } from './layout.ts';
import type { TypePool } from './type-pool.ts';

/** `tenon.exit(since, f)`: calls `exit(f)` for a traced call, and reports a skipped one. */
export function exitHelper(layout: Layout, adaptive: AdaptiveLayout, types: TypePool): GeneratedFunction {
  const { clockGlobal, minDurationGlobal, startGlobal } = adaptive;
  const [since, func] = [0, 1];
  return {
    typeIndex: types.intern([f64Type, i32Type], []),
    name: 'tenon.exit',
    writeBody(writer) {
      writeByte(writer, 0); // no locals
      writeInstructions(writer, [Op.localGet, since], [Op.i64ReinterpretF64], [i64Op.eqz], [Op.if, emptyBlock]);
      writeInstructions(writer, [Op.localGet, func], [Op.call, layout.exitIndex], [Op.return], [Op.end]);
      // Tail calls come here without a test.
      writeInstructions(writer, [Op.globalGet, clockGlobal], [Op.localGet, since], [f64Op.sub]);
      writeInstructions(writer, [Op.globalGet, minDurationGlobal], [f64Op.ge], [Op.if, emptyBlock]);
      writeInstructions(writer, [Op.localGet, since], [Op.globalSet, startGlobal]);
      writeInstructions(writer, [Op.localGet, func], [i32Op.const, -1], [i32Op.xor], [Op.call, layout.exitIndex]);
      writeInstructions(writer, [Op.end], [Op.end]);
    },
  };
}
