import { leb, moduleOf, section, sized, vector } from '../../../../../test/helpers/module-bytes.ts';
import { createRandom, type Random } from '../../../../../test/helpers/random.ts';

/** Functions from i32 to i32, all exported by their number and in the table, whose last entry is empty. */
export interface RandomProgram {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly functionCount: number;
}

/** A label that a branch can name: whether its branches take a value. */
interface Label {
  readonly takesValue: boolean;
  readonly isLegacyCatch?: boolean;
}

interface Writer {
  readonly random: Random;
  readonly exceptions: 'none' | 'legacy' | 'exnref';
  readonly functionCount: number;
  readonly out: number[];
  readonly labels: Label[];
  budget: number;
}

const localCount = 4;
const [voidType, i32Type] = [0x40, 0x7f];

/** A program with blocks, loops, branches, tables, calls of all kinds, exceptions, traps, unreachable and endless code. */
export function makeRandomProgram(seed: number): RandomProgram {
  const random = createRandom(seed);
  const functionCount = random.between(1, 5);
  const exceptions = random.pick(['none', 'legacy', 'exnref'] as const);
  const bodies = Array.from({ length: functionCount }, () => {
    const writer: Writer = {
      random,
      exceptions,
      functionCount,
      out: [1, localCount - 1, i32Type],
      labels: [{ takesValue: true }],
      budget: random.between(0, 60),
    };
    statements(writer);
    expression(writer, 2);
    writer.out.push(0x0b);
    return sized([writer.out]);
  });
  const all = Array.from({ length: functionCount }, (_, index) => index);
  const exported = all.map((index) => [1, 0x30 + index, 0, index]);
  const bytes = moduleOf(
    [
      section.type,
      vector([
        [0x60, 1, i32Type, 1, i32Type],
        [0x60, 0, 0],
      ]),
    ],
    [section.function, vector(all.map(() => [0]))],
    [section.table, vector([[0x70, 0, functionCount + 1]])],
    [section.memory, vector([[0, 1]])],
    [
      section.tag,
      vector([
        [0, 1],
        [0, 1],
      ]),
    ],
    [section.export, vector(exported)],
    [section.element, vector([[0, 0x41, 0, 0x0b, ...vector(all.map((index) => [index]))]])],
    [section.code, vector(bodies)],
  );
  return { bytes, functionCount };
}

function statements(writer: Writer): void {
  for (let count = writer.random.below(5); count > 0 && writer.budget > 0; count--) statement(writer);
}

function statement(writer: Writer): void {
  const { random, out } = writer;
  writer.budget--;
  const kind = random.below(21);
  if (kind < 3) {
    expression(writer, 2);
    out.push(0x21, random.below(localCount)); // local.set
  } else if (kind < 5) block(writer, [0x02, voidType], false);
  else if (kind < 8) loop(writer);
  else if (kind < 11) choice(writer, voidType, () => statements(writer));
  else if (kind === 11) branch(writer, 0x0c);
  else if (kind < 14) branch(writer, 0x0d);
  else if (kind === 14) branchTable(writer);
  else if (kind === 15) call(writer);
  else if (kind === 16) exit(writer);
  else if (kind < 19) handler(writer);
  else if (kind === 19) {
    out.push(0x41, 0, 0x41, 7);
    expression(writer, 1);
    out.push(0x41, ...signed(0xff), 0x71, 0xfc, 0x0b, 0); // memory.fill of at most 255 bytes
  } else out.push(0x01); // nop
}

function block(writer: Writer, opening: readonly number[], takesValue: boolean, last = () => {}): void {
  writer.out.push(...opening);
  writer.labels.push({ takesValue });
  statements(writer);
  last();
  writer.labels.pop();
  writer.out.push(0x0b);
}

/** Most loops end: they count a local down. */
function loop(writer: Writer): void {
  const { random, out } = writer;
  const counter = random.below(localCount);
  const ends = random.below(8) > 0;
  if (ends) out.push(0x41, random.between(1, 6), 0x21, counter);
  out.push(0x03, voidType, 0x01);
  writer.labels.push({ takesValue: false });
  statements(writer);
  if (ends) out.push(0x20, counter, 0x41, 1, 0x6b, 0x22, counter, 0x0d, 0);
  writer.labels.pop();
  out.push(0x0b);
}

function choice(writer: Writer, type: number, arm: () => void): void {
  const { random, out, labels } = writer;
  expression(writer, 2);
  out.push(0x04, type);
  labels.push({ takesValue: type === i32Type });
  arm();
  if (type === i32Type || random.chance(0.5)) {
    out.push(0x05);
    arm();
  }
  labels.pop();
  out.push(0x0b);
}

/** `br`, `br_if`. A value that `br_if` leaves is dropped. */
function branch(writer: Writer, opcode: number): void {
  const { random, out, labels } = writer;
  const label = random.below(labels.length);
  const { takesValue } = labels[labels.length - 1 - label] as Label;
  if (takesValue) expression(writer, 1);
  if (opcode === 0x0d) expression(writer, 2);
  out.push(opcode, ...leb(label));
  if (takesValue) out.push(0x1a);
}

function branchTable(writer: Writer): void {
  const { random, out, labels } = writer;
  const takesValue = random.chance(0.3);
  const fitting = labels.flatMap((label, place) =>
    label.takesValue === takesValue ? [labels.length - 1 - place] : [],
  );
  if (fitting.length === 0) return;
  if (takesValue) expression(writer, 1);
  expression(writer, 2);
  const chosen = Array.from({ length: random.between(1, 4) }, () => random.pick(fitting));
  out.push(0x0e, chosen.length - 1, ...chosen.flatMap(leb));
}

function call(writer: Writer): void {
  const { random, out, functionCount } = writer;
  expression(writer, 1);
  const callee = random.below(functionCount);
  const form = random.below(6);
  if (form < 3) out.push(0x10, callee);
  else if (form === 3)
    out.push(0x41, callee, 0x11, 0, 0); // call_indirect
  else if (form === 4)
    out.push(0x12, callee); // return_call
  else out.push(0x41, random.below(functionCount + 1), 0x13, 0, 0); // return_call_indirect
  out.push(0x1a);
}

function exit(writer: Writer): void {
  const { random, out, exceptions, labels } = writer;
  const form = random.below(exceptions === 'none' ? 2 : 5);
  const caught = labels.findLastIndex(({ isLegacyCatch }) => isLegacyCatch === true);
  if (form === 0) {
    expression(writer, 1);
    out.push(0x0f); // return
  } else if (form === 1)
    out.push(0x00); // unreachable
  else if (form === 2 && caught !== -1)
    out.push(0x09, ...leb(labels.length - 1 - caught)); // rethrow
  else out.push(0x08, random.below(2)); // throw
}

function handler(writer: Writer): void {
  const { random, out, labels, exceptions } = writer;
  if (exceptions === 'none') return;
  if (exceptions === 'exnref') {
    const empty = labels.flatMap(({ takesValue }, place) => (takesValue ? [] : [labels.length - 1 - place]));
    const clauses = empty.length === 0 ? [] : Array.from({ length: random.below(3) }, () => random.pick(empty));
    const encoded = clauses.flatMap((label) =>
      random.chance(0.5) ? [2, ...leb(label)] : [0, random.below(2), ...leb(label)],
    );
    block(writer, [0x1f, voidType, clauses.length, ...encoded], false);
    return;
  }
  out.push(0x06, voidType);
  labels.push({ takesValue: false });
  statements(writer);
  labels.pop();
  if (random.chance(0.2)) {
    out.push(0x18, ...leb(random.below(labels.length))); // delegate
    return;
  }
  labels.push({ takesValue: false, isLegacyCatch: true });
  for (const arm of random.pick([[[0x07, 0]], [[0x07, 1], [0x19]], [[0x19]], []])) {
    out.push(...arm);
    statements(writer);
  }
  labels.pop();
  out.push(0x0b);
}

function expression(writer: Writer, depth: number): void {
  const { random, out } = writer;
  writer.budget--;
  const kind = random.below(depth > 0 && writer.budget > 0 ? 10 : 3);
  if (kind === 0) out.push(0x41, ...signed(random.below(300)));
  else if (kind < 3) out.push(0x20, random.below(localCount));
  else if (kind < 7) {
    expression(writer, depth - 1);
    expression(writer, depth - 1);
    out.push(random.pick([0x6a, 0x6b, 0x71, 0x46, 0x49, 0x6e])); // add, sub, and, eq, lt_u, div_u
  } else if (kind === 7) choice(writer, i32Type, () => expression(writer, depth - 1));
  else if (kind === 8) block(writer, [0x02, i32Type], true, () => expression(writer, depth - 1));
  else {
    expression(writer, depth - 1);
    out.push(0x2d, 0, 0); // i32.load8_u
  }
}

/** The signed LEB128 of a number below 8,192. */
function signed(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, value >> 7];
}
