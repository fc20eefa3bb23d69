import assert from 'node:assert/strict';
import { readBodyBounds } from '../../src/binary/code.ts';
import { readModule } from '../../src/binary/module.ts';
import { Op } from '../../src/binary/opcodes.ts';
import { instrument, originalOffset, readOffsetMap } from '../../src/index.ts';
import { createProgress } from '../../src/progress.ts';
import { type OffsetMap, outputInstruction, outputOffset } from '../../src/rewrite/offset-map.ts';
import { scanCode } from '../../src/scan/scan-code.ts';
import type { InstrumentOptions } from '../../src/select/config.ts';

/** Offsets in the file of every instruction, by body, without the last `end`. */
export function instructionsOf(bytes: Uint8Array): number[][] {
  const module = readModule(bytes);
  const bounds = readBodyBounds(module);
  const bodies: number[][] = Array.from({ length: bounds.length / 2 }, () => []);
  scanCode(module, bounds, createProgress(0, undefined), {
    onLocals: () => {},
    onInstruction: (offset, _end, functionIndex) =>
      bodies[functionIndex - module.importedFunctions.length]?.push(offset),
  });
  return bodies;
}

/** Instructions that the rewriter replaces, by opcode. */
const replacements = new Map<number, number>([
  [Op.return, Op.br],
  [Op.memoryGrow, Op.call],
]);

/** Instruments a module, and checks each instruction's offset in the map against an own reading of both modules. */
export function checkOffsetMap(input: Uint8Array, options: InstrumentOptions = {}): OffsetMap | undefined {
  const { bytes } = instrument(input, { ...options, codeMap: true });
  const map = readOffsetMap(bytes);
  if (map === undefined) {
    assert.deepEqual(bytes, new Uint8Array(input), 'only an unchanged module has no map');
    return undefined;
  }
  const bodies = instructionsOf(input);
  const outputBodies = instructionsOf(bytes);
  assert.ok(bodies.length <= outputBodies.length);
  bodies.forEach((offsets, body) => {
    const instructions = new Set(outputBodies[body]);
    let before = 0;
    for (const offset of offsets) {
      const where = `the instruction at 0x${offset.toString(16)}`;
      const relative: number = offset - map.inputCodeStart;
      const found = outputInstruction(map, relative);
      const opcode = input[offset] as number;
      const outputOpcode = bytes[found + map.outputCodeStart] as number;
      assert.ok(instructions.has(found + map.outputCodeStart), `${where} is one in the output`);
      assert.ok(outputOpcode === opcode || outputOpcode === replacements.get(opcode), `${where} keeps its opcode`);
      const begin = outputOffset(map, relative);
      assert.ok(begin > before && begin <= found, `${where} begins with the code added before it`);
      assert.equal(originalOffset(map, begin), relative, `${where} is found from the code added before it`);
      assert.equal(originalOffset(map, found), relative, `${where} is found`);
      before = found;
    }
  });
  return map;
}
