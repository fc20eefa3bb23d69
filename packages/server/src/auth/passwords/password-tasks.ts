import { argon2Sync, randomBytes, timingSafeEqual } from 'node:crypto';

/** The cost parameters of Argon2id (RFC 9106). */
export interface PasswordCost {
  readonly memoryKiB: number;
  readonly passes: number;
  readonly lanes: number;
}

/** Hashes a password, or verifies a password against a hash. */
export type PasswordTask =
  | { readonly kind: 'hash'; readonly password: string; readonly cost: PasswordCost }
  | { readonly kind: 'verify'; readonly password: string; readonly hash: ParsedHash };

/** The new hash as a PHC string, or whether the password is correct. */
export type PasswordResult = string | boolean;

/** The fields of a PHC string: cost, salt, and tag. */
export interface ParsedHash extends PasswordCost {
  readonly salt: Uint8Array;
  readonly tag: Uint8Array;
}

const saltBytes = 16;
export const tagBytes = 32;

export function runPasswordTask(task: PasswordTask): PasswordResult {
  if (task.kind === 'verify') {
    const { tag } = task.hash;
    return timingSafeEqual(computeTag(task.password, task.hash, tag.length), tag);
  }
  const salt = randomBytes(saltBytes);
  const tag = computeTag(task.password, { ...task.cost, salt }, tagBytes);
  return formatHash({ ...task.cost, salt, tag });
}

function computeTag(password: string, hash: Omit<ParsedHash, 'tag'>, tagLength: number): Uint8Array {
  return argon2Sync('argon2id', {
    message: password,
    nonce: hash.salt,
    parallelism: hash.lanes,
    tagLength,
    memory: hash.memoryKiB,
    passes: hash.passes,
  });
}

// https://github.com/P-H-C/phc-string-format/blob/master/phc-sf-spec.md
const phcPattern = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,4}),p=(\d{1,3})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

function formatHash({ memoryKiB, passes, lanes, salt, tag }: ParsedHash): string {
  return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${lanes}$${encode(salt)}$${encode(tag)}`;
}

/** Parses a PHC string. Returns `undefined` for malformed text and for parameters that `argon2Sync()` rejects. */
export function parseHash(text: string): ParsedHash | undefined {
  const match = phcPattern.exec(text);
  if (match === null) return undefined;
  const [memoryKiB = 0, passes = 0, lanes = 0] = match.slice(1, 4).map(Number);
  const [salt, tag] = match.slice(4).map((part) => new Uint8Array(Buffer.from(part, 'base64')));
  const isComputable = passes > 0 && lanes > 0 && memoryKiB >= 8 * lanes;
  const isLongEnough = salt !== undefined && tag !== undefined && salt.length >= 8 && tag.length >= 16;
  return isComputable && isLongEnough ? { memoryKiB, passes, lanes, salt, tag } : undefined;
}

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}
