import type { Module } from '../binary/module.ts';
import { findSection, SectionId } from '../binary/sections.ts';
import { peekU32, skipLeb } from '../binary/skip.ts';
import { visitSection } from '../binary/visit-section.ts';

/** The type of the size that a bulk instruction takes from the top of the operand stack. */
export type ChargedSize = 'i32' | 'i64';

/** Finds the instructions whose time depends on an operand: those that fill, copy, or make a memory, a table, or an array. */
export function chargedSizes(module: Module): (offset: number, end: number) => ChargedSize | undefined {
  const source = module.bytes;
  const memories = module.memories.map(({ is64 }) => is64);
  const tables = readTables(module);
  return (offset, end) => {
    const opcode = peekU32(source, offset + 1, end, 0);
    if (source[offset] === 0xfb) return arrayOpcodes.has(opcode) ? 'i32' : undefined;
    if (source[offset] !== 0xfc) return undefined;
    const first = skipLeb(source, offset + 1, 5, 0);
    const second = () => skipLeb(source, first, 5, 0);
    const isIn = (spaces: readonly boolean[], at: number) => spaces[peekU32(source, at, end, 0)] === true;
    switch (opcode) {
      case 0x08: // memory.init
      case 0x0c: // table.init
        return 'i32';
      case 0x0a: // memory.copy
        return isIn(memories, first) && isIn(memories, second()) ? 'i64' : 'i32';
      case 0x0b: // memory.fill
        return isIn(memories, first) ? 'i64' : 'i32';
      case 0x0e: // table.copy
        return isIn(tables, first) && isIn(tables, second()) ? 'i64' : 'i32';
      case 0x0f: // table.grow
      case 0x11: // table.fill
        return isIn(tables, first) ? 'i64' : 'i32';
      default:
        return undefined;
    }
  };
}

/** array.new, array.new_default, array.new_data, array.new_elem, array.fill, array.copy, array.init_data, array.init_elem */
const arrayOpcodes: ReadonlySet<number> = new Set([0x06, 0x07, 0x09, 0x0a, 0x10, 0x11, 0x12, 0x13]);

/** Per table, whether its indices are i64. */
function readTables(module: Module): boolean[] {
  const tables = module.imports.flatMap((entry) => (entry.kind === 'table' ? [entry.table.limits.is64] : []));
  const section = findSection(module.sections, SectionId.table);
  if (section !== undefined) {
    visitSection(module.bytes, section, SectionId.table, {
      cost: { ...module.cost },
      onTable: ({ limits }) => tables.push(limits.is64),
    });
  }
  return tables;
}
