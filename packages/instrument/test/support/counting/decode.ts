/** An instruction of a random program. Offsets count from the start of the code section's contents. */
export interface Instruction {
  readonly offset: number;
  readonly opcode: number;
  /** Index, constant, or labels. */
  readonly operands: readonly number[];
  /** Of `try_table`: a tag, or -1 for all, and a label. */
  readonly catches: readonly (readonly [number, number])[];
  /** Whether a block of this instruction leaves a value. */
  readonly hasResult: boolean;
  /** Of an instruction that opens a block: its `else` and catch clauses, and its `end` or `delegate`, as positions. */
  readonly arms: number[];
  end: number;
}

export interface DecodedFunction {
  readonly instructions: readonly Instruction[];
  readonly callsFunctions: boolean;
}

/** `block`, `loop`, `else`, `catch`, `end`, `delegate`, `catch_all`. */
export const delimiters: ReadonlySet<number> = new Set([0x02, 0x03, 0x05, 0x07, 0x0b, 0x18, 0x19]);

const openers: ReadonlySet<number> = new Set([0x02, 0x03, 0x04, 0x06, 0x1f]);

/** Decodes the code section of a random program, apart from the product's own tables. */
export function decodeCode(bytes: Uint8Array): DecodedFunction[] {
  let at = 8;
  const u32 = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const s32 = () => {
    let value = 0;
    for (let shift = 0; ; ) {
      const byte = bytes[at++] as number;
      value |= (byte & 0x7f) << shift;
      shift += 7;
      if (byte < 0x80) return byte & 0x40 ? value | (-1 << shift) : value;
    }
  };
  for (;;) {
    const id = bytes[at++];
    const size = u32();
    if (id === 10) break;
    at += size;
  }
  const base = at;
  const times = (count: number, read: () => number) => Array.from({ length: count }, read);

  function operandsOf(opcode: number): number[] {
    if (opcode === 0x41) return [s32()];
    if (opcode === 0x0e) return times(u32() + 1, u32);
    if (opcode === 0x11 || opcode === 0x13 || opcode === 0x2d) return times(2, u32);
    if (opcode === 0xfc) return times(2, u32);
    const hasIndex = [0x07, 0x08, 0x09, 0x0c, 0x0d, 0x10, 0x12, 0x18, 0x20, 0x21, 0x22].includes(opcode);
    return hasIndex ? [u32()] : [];
  }

  return times(u32(), () => at).map(() => {
    const end = u32() + at;
    for (let runs = u32(); runs > 0; runs--) {
      u32();
      at++;
    }
    const instructions: Instruction[] = [];
    const open: number[] = [];
    while (at < end) {
      const offset = at - base;
      const opcode = bytes[at++] as number;
      const hasResult = openers.has(opcode) && bytes[at++] === 0x7f;
      const catches =
        opcode === 0x1f ? Array.from({ length: u32() }, () => [u32() === 2 ? -1 : u32(), u32()] as const) : [];
      const instruction = { offset, opcode, operands: operandsOf(opcode), catches, hasResult, arms: [], end: -1 };
      const position = instructions.push(instruction) - 1;
      if (openers.has(opcode)) open.push(position);
      const opener = instructions[open.at(-1) ?? -1];
      if (opcode === 0x05 || opcode === 0x07 || opcode === 0x19) opener?.arms.push(position);
      if ((opcode === 0x0b || opcode === 0x18) && opener !== undefined) {
        opener.end = position;
        open.pop();
      }
    }
    return { instructions, callsFunctions: instructions.some(({ opcode }) => opcode >= 0x10 && opcode <= 0x13) };
  });
}
