/** Fills an array with random bytes, as `crypto.getRandomValues` does. */
export type RandomSource = (bytes: Uint8Array<ArrayBuffer>) => void;

export interface IdSource {
  /** 32 hexadecimal digits, not all zero: https://www.w3.org/TR/trace-context/#trace-id */
  readonly traceId: () => string;
  /** 16 hexadecimal digits, not all zero. */
  readonly spanId: () => string;
}

const poolBytes = 2_048;
const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Ids from random bytes, many of which are drawn at a time: each draw is a call into the host. */
export function createIdSource(random: RandomSource = systemRandom): IdSource {
  const pool = new Uint8Array(poolBytes);
  let used = poolBytes;
  const draw = (byteCount: number): string => {
    if (used + byteCount > poolBytes) {
      random(pool);
      used = 0;
    }
    let id = '';
    let bits = 0;
    for (const end = used + byteCount; used < end; used++) {
      const byte = pool[used] as number;
      bits |= byte;
      id += hex[byte];
    }
    // An id of zeros means "none". A source that gives zeros is broken; asking it again might never end.
    return bits === 0 ? `${'0'.repeat(byteCount * 2 - 1)}1` : id;
  };
  return { traceId: () => draw(16), spanId: () => draw(8) };
}

function systemRandom(bytes: Uint8Array<ArrayBuffer>): void {
  const { crypto } = globalThis as unknown as { crypto: { getRandomValues(bytes: Uint8Array): void } };
  crypto.getRandomValues(bytes);
}
