import { sha256, toHex } from './content-address.ts';
import { ClientError, invalidOption } from './errors.ts';

/** A public key as `/.well-known/tenon-signing-keys.json` lists it. */
export interface SigningKey {
  /** The SHA-256 of the key's SPKI encoding, as lower-case hexadecimal. */
  readonly keyId?: string;
  readonly algorithm?: string;
  /** The key in PEM: `-----BEGIN PUBLIC KEY-----`. */
  readonly publicKey: string;
  /** From when on the server signs with the key. Default: always. */
  readonly validFrom?: string | null;
  /** Until when the server signs with the key. Default: always. */
  readonly validUntil?: string | null;
}

/** A checked key. */
export interface TrustedKey {
  /** Where the key is configured: `trustedKeys[0]`. */
  readonly option: string;
  readonly spki: Uint8Array<ArrayBuffer>;
  /** The configured id, which must be the key's. */
  readonly keyId: string | undefined;
  readonly validFromMs: number;
  readonly validUntilMs: number;
}

/** What precedes the 32 bytes of an Ed25519 key in the SPKI encoding (https://www.rfc-editor.org/rfc/rfc8410#section-4). */
const spkiPrefix = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

const keyBytes = 32;

const maxKeys = 64;

/** @throws ClientError `invalid_option`, which names the key and its field */
export function readTrustedKeys(keys: unknown, option = 'trustedKeys'): readonly TrustedKey[] {
  if (!Array.isArray(keys)) throw invalidOption(option, 'must be a list of PEM texts or signing keys');
  if (keys.length > maxKeys) throw invalidOption(option, `must have at most ${maxKeys} keys`);
  return keys.map((key: unknown, index) => readTrustedKey(key, `${option}[${index}]`));
}

function readTrustedKey(key: unknown, option: string): TrustedKey {
  if (typeof key === 'string') return { ...unlimited, option, spki: readPem(key, option), keyId: undefined };
  if (typeof key !== 'object' || key === null) throw invalidOption(option, 'must be a PEM text or a signing key');
  const { keyId, algorithm = 'ed25519', publicKey, validFrom, validUntil } = key as Partial<SigningKey>;
  if (algorithm !== 'ed25519') throw invalidOption(`${option}.algorithm`, 'must be "ed25519"');
  if (keyId !== undefined && (typeof keyId !== 'string' || !/^[0-9a-f]{64}$/.test(keyId))) {
    throw invalidOption(`${option}.keyId`, 'must have 64 lower-case hexadecimal digits');
  }
  return {
    option,
    spki: readPem(publicKey, `${option}.publicKey`),
    keyId,
    validFromMs: readTime(validFrom, unlimited.validFromMs, `${option}.validFrom`),
    validUntilMs: readTime(validUntil, unlimited.validUntilMs, `${option}.validUntil`),
  };
}

const unlimited = { validFromMs: Number.NEGATIVE_INFINITY, validUntilMs: Number.POSITIVE_INFINITY };

function readPem(pem: unknown, option: string): Uint8Array<ArrayBuffer> {
  const pattern = /^\s*-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]{1,1000})-----END PUBLIC KEY-----\s*$/;
  const [, body] = (typeof pem === 'string' && pattern.exec(pem)) || [];
  const spki = body === undefined ? undefined : decodeBase64(body.replace(/\s/g, ''));
  const isEd25519 =
    spki?.length === spkiPrefix.length + keyBytes && spkiPrefix.every((byte, index) => spki[index] === byte);
  if (spki === undefined || !isEd25519) throw invalidOption(option, 'must be an Ed25519 public key in PEM');
  return spki;
}

function readTime(value: unknown, fallback: number, option: string): number {
  if (value === undefined || value === null) return fallback;
  const ms = parseTime(value);
  if (ms === undefined) throw invalidOption(option, 'must be a time such as "2026-01-31T12:00:00.000Z"');
  return ms;
}

/** Milliseconds since 1970 of a UTC time in ISO 8601. `undefined` for anything else. */
export function parseTime(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(value)) return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Decodes canonical base64, with padding. `undefined` for anything else. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text);
    // Engines also decode texts with spaces, without padding, and with stray bits at the end.
    return btoa(binary) === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The keys with this id. Several entries of one key may have different periods.
 *
 * @throws ClientError `invalid_option` if the configured id of a key is not its own
 */
export async function findKeys(keys: readonly TrustedKey[], keyId: string): Promise<readonly TrustedKey[]> {
  const found: TrustedKey[] = [];
  for (const key of keys) {
    const ownId = toHex(await sha256(key.spki));
    if (key.keyId !== undefined && key.keyId !== ownId) {
      throw invalidOption(`${key.option}.keyId`, 'is not the SHA-256 of `publicKey`');
    }
    if (ownId === keyId) found.push(key);
  }
  return found;
}

/**
 * Verifies an Ed25519 signature.
 *
 * @throws ClientError `provenance_failed` with the reason `unsupported_runtime` if this engine has no Ed25519
 */
export async function verifySignature(
  { spki }: TrustedKey,
  signature: Uint8Array<ArrayBuffer>,
  data: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  try {
    const key = await crypto.subtle.importKey('spki', spki, { name: 'Ed25519' }, false, ['verify']);
    return await crypto.subtle.verify({ name: 'Ed25519' }, key, signature, data);
  } catch (cause) {
    const text =
      'This engine has no Ed25519 in `crypto.subtle`, which `verify` needs: Node.js 20, Chrome 137, Firefox 129, or Safari 17';
    throw new ClientError('provenance_failed', text, { reason: 'unsupported_runtime', cause });
  }
}
