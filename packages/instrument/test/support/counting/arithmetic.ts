import { Stop } from './stop.ts';

/** The result of an instruction with two operands. */
export function arithmetic(opcode: number, right: number, left: number): number {
  switch (opcode) {
    case 0x6a:
      return (left + right) | 0;
    case 0x6b:
      return (left - right) | 0;
    case 0x71:
      return left & right;
    case 0x46:
      return left === right ? 1 : 0;
    case 0x49:
      return left >>> 0 < right >>> 0 ? 1 : 0;
    case 0x6e:
      if (right === 0) throw new Stop('trap');
      return ((left >>> 0) / (right >>> 0)) | 0;
    default:
      throw new Error(`opcode 0x${opcode.toString(16)}`);
  }
}
