import { arithmetic } from './arithmetic.ts';
import { type DecodedFunction, delimiters, type Instruction } from './decode.ts';
import { type Ending, Stop } from './stop.ts';

/** A block of a coverage map, for the fuel. */
export interface FuelBlock {
  readonly cost: number;
}

class Thrown extends Error {
  readonly tag: number;
  constructor(tag: number) {
    super('thrown');
    this.tag = tag;
  }
}

interface Label {
  readonly opener: Instruction | undefined;
  readonly position: number;
  /** The height of the operand stack. */
  readonly height: number;
  /** Of a legacy `try` whose handler runs: the tag that it has caught. */
  caught: number;
}

interface TailCall {
  readonly callee: number;
  readonly argument: number;
}

const maxDepth = 300;

/**
 * Interprets a random program one instruction after the other, counts each instruction, and takes fuel where a block of
 * `fuelBlocks` begins.
 */
export function createInterpreter(
  functions: readonly DecodedFunction[],
  maxSteps: number,
  fuelBlocks: ReadonlyMap<number, FuelBlock> = new Map(),
) {
  /** By offset: executions, and how many of them ended in a trap or an exception. */
  const executed = new Map<number, number>();
  const cut = new Map<number, number>();
  const memory = new Uint8Array(65_536);
  let fuel = Number.POSITIVE_INFINITY;
  /** The offset of the block that ran out of fuel. */
  let stoppedAt = -1;
  let steps = 0;
  let depth = 0;
  const bump = (counts: Map<number, number>, offset: number) => counts.set(offset, (counts.get(offset) ?? 0) + 1);

  function take(cost: number, checks: boolean): void {
    fuel -= cost;
    if (checks && fuel < 0) throw new Stop('out of fuel');
  }

  /** Runs a function and the functions that it tail-calls. */
  function callFunction(callee: number, argument: number): number {
    if (++depth > maxDepth) throw new Stop('too long');
    let next: number | TailCall = { callee, argument };
    while (typeof next === 'object') next = runBody(functions[next.callee], next.argument);
    depth--;
    return next;
  }

  function runBody(body: DecodedFunction | undefined, argument: number): number | TailCall {
    if (body === undefined) throw new Stop('trap');
    const { instructions } = body;
    const locals = [argument, 0, 0, 0];
    const stack: number[] = [];
    const labels: Label[] = [{ opener: undefined, position: -1, height: 0, caught: -1 }];
    let position = 0;
    let checks = body.callsFunctions;
    const pop = () => stack.pop() as number;

    const leave = (label: number): number | undefined => {
      const place = labels.length - 1 - label;
      const { opener, position: start, height } = labels[place] as Label;
      if (opener === undefined) return pop();
      const value = opener.hasResult && opener.opcode !== 0x03 ? [pop()] : [];
      stack.length = height;
      stack.push(...value);
      const isLoop = opener.opcode === 0x03;
      labels.length = isLoop ? place + 1 : place;
      if (isLoop) checks = true;
      position = (isLoop ? start : opener.end) + 1;
      return undefined;
    };

    /** Finds the handler of an exception, or throws it to the caller. A branch to the body's own label can't occur. */
    const handle = (thrown: Thrown): void => {
      while (labels.length > 1) {
        const label = labels.at(-1) as Label;
        const { opener, height } = label;
        const clause = opener?.catches.find(([tag]) => tag === -1 || tag === thrown.tag);
        if (clause !== undefined) {
          labels.pop();
          stack.length = height;
          leave(clause[1]);
          return;
        }
        if (opener?.opcode === 0x06 && label.caught === -1) {
          const arm = opener.arms.find((at) => [thrown.tag, undefined].includes(instructions[at]?.operands[0]));
          if (arm !== undefined) {
            stack.length = height;
            label.caught = thrown.tag;
            position = arm;
            bump(executed, (instructions[arm] as Instruction).offset);
            position++;
            return;
          }
          const end = instructions[opener.end] as Instruction;
          if (end.opcode === 0x18) {
            labels.length -= 1 + (end.operands[0] as number);
            if (labels.length <= 1) throw thrown;
            continue;
          }
        }
        labels.pop();
      }
      throw thrown;
    };

    for (;;) {
      const instruction = instructions[position] as Instruction;
      const { offset, opcode, operands } = instruction;
      const block = fuelBlocks.get(offset);
      if (block !== undefined) {
        stoppedAt = offset;
        if (block.cost > 0) take(block.cost, checks);
        stoppedAt = -1;
        checks = false;
      }
      if (++steps > maxSteps) throw new Stop('too long');
      bump(executed, offset);
      try {
        const result = execute(instruction, opcode, operands);
        if (result !== undefined) return result;
      } catch (error) {
        bump(cut, offset);
        if (!(error instanceof Thrown)) throw error;
        handle(error);
      }
    }

    function execute(
      instruction: Instruction,
      opcode: number,
      [first = 0, second = 0, ...rest]: readonly number[],
    ): number | TailCall | undefined {
      switch (opcode) {
        case 0x00:
          throw new Stop('trap');
        case 0x02:
        case 0x06:
        case 0x1f:
          labels.push({ opener: instruction, position, height: stack.length, caught: -1 });
          break;
        case 0x03:
          labels.push({ opener: instruction, position, height: stack.length, caught: -1 });
          checks = true;
          break;
        case 0x04: {
          const isTrue = pop() !== 0;
          labels.push({ opener: instruction, position, height: stack.length, caught: -1 });
          if (!isTrue) position = instruction.arms[0] ?? instruction.end - 1;
          break;
        }
        case 0x05:
        case 0x07:
        case 0x19:
          position = (labels.at(-1) as Label).opener?.end as number;
          labels.pop();
          break;
        case 0x08:
          throw new Thrown(first);
        case 0x09:
          throw new Thrown((labels[labels.length - 1 - first] as Label).caught);
        case 0x0b:
        case 0x18:
          if (labels.length === 1) return pop();
          labels.pop();
          break;
        case 0x0c:
          return leave(first);
        case 0x0d:
          if (pop() !== 0) return leave(first);
          break;
        case 0x0e: {
          const targets = [first, second, ...rest].slice(0, instruction.operands.length);
          const index = pop() >>> 0;
          return leave(targets[Math.min(index, targets.length - 1)] as number);
        }
        case 0x0f:
          return pop();
        case 0x10:
          stack.push(guarded(first, pop()));
          break;
        case 0x11: {
          const callee = pop();
          stack.push(guarded(callee, pop()));
          break;
        }
        case 0x12:
          return { callee: first, argument: pop() };
        case 0x13: {
          const callee = pop();
          if (functions[callee] === undefined) throw new Stop('trap');
          return { callee, argument: pop() };
        }
        case 0x1a:
          pop();
          break;
        case 0x20:
          stack.push(locals[first] as number);
          break;
        case 0x21:
          locals[first] = pop();
          break;
        case 0x22:
          locals[first] = stack.at(-1) as number;
          break;
        case 0x2d: {
          const address = pop() >>> 0;
          if (address >= memory.length) throw new Stop('trap');
          stack.push(memory[address] as number);
          break;
        }
        case 0x41:
          stack.push(first);
          break;
        case 0xfc: {
          const size = pop();
          if (fuelBlocks.size > 0) take(size >>> 3, true);
          pop();
          pop();
          memory.fill(7, 0, size);
          break;
        }
        default:
          if (opcode !== 0x01) stack.push(arithmetic(opcode, pop(), pop()));
      }
      position++;
      return undefined;
    }
  }

  /** Calls a function; what it throws passes through the frame of the caller. */
  function guarded(callee: number, argument: number): number {
    const before = depth;
    try {
      return callFunction(callee, argument);
    } finally {
      depth = before;
    }
  }

  return {
    executed,
    cut,
    get fuel() {
      return fuel;
    },
    get stoppedAt() {
      return stoppedAt;
    },
    setFuel(value: number) {
      fuel = value;
    },
    run(callee: number, argument: number): Ending {
      steps = 0;
      depth = 0;
      try {
        return callFunction(callee, argument);
      } catch (error) {
        if (error instanceof Stop) return error.ending;
        if (error instanceof Thrown) return 'exception';
        throw error;
      }
    },
  };
}

/** Whether an instruction costs fuel. */
export function costsFuel({ opcode }: Instruction): boolean {
  return !delimiters.has(opcode);
}
