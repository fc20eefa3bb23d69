import { createHash } from 'node:crypto';
import wabt from 'wabt';
import type { Random } from '../../../../test/helpers/random.ts';

/** A module that exports its number. */
export interface NumberedModule {
  readonly number: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The content address: the unpadded base64url SHA-256 of the bytes. */
  readonly address: string;
}

const { parseWat } = await wabt();

/** Creates a module whose export `number` returns its number, with this many random bytes of data. */
export function numberedModule(number: number, random: Random, dataBytes = 200): NumberedModule {
  const data = Array.from({ length: dataBytes }, () => `\\${random.below(256).toString(16).padStart(2, '0')}`);
  const parsed = parseWat(
    `${number}.wat`,
    `(module
      (memory (export "memory") 4)
      (data (i32.const 0) "${data.join('')}")
      (func (export "number") (result i32) (i32.const ${number})))`,
  );
  const bytes = new Uint8Array(parsed.toBinary({}).buffer);
  parsed.destroy();
  return { number, bytes, address: addressOf(bytes) };
}

export function addressOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}

/** The number of a {@link numberedModule}. */
export function numberOf(module: WebAssembly.Module): number {
  const { exports } = new WebAssembly.Instance(module);
  return (exports.number as () => number)();
}
