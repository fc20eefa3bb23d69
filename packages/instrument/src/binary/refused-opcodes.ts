/** Opcodes of unsupported proposals: [prefix, if any, first, last, feature]. */
const refused: readonly (readonly [number | undefined, number, number, string])[] = [
  [undefined, 0xe0, 0xe6, 'the stack switching proposal'],
  [0xfb, 0x20, 0x26, 'the custom descriptors proposal'],
  [0xfb, 0x80, 0xb7, 'the string reference proposal'],
  [0xfc, 0x12, 0x12, 'the memory control proposal'],
  [0xfd, 0x114, 0x12f, 'the relaxed SIMD or half precision proposal'],
  [0xfd, 0x130, 0x16f, 'the half precision proposal'],
  [0xfe, 0x4f, 0x7f, 'the shared-everything threads proposal'],
];

/** The unsupported proposal that an opcode belongs to. */
export function refusedFeature(prefix: number | undefined, opcode: number): string | undefined {
  return refused.find(([inPrefix, first, last]) => inPrefix === prefix && opcode >= first && opcode <= last)?.[3];
}
