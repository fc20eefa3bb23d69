/** The prefix of each kind of secret, by which people and secret scanners recognise it. */
export const secretPrefixes = { accessToken: 'tnn_', apiKey: 'tnk_' } as const;

export type SecretKind = keyof typeof secretPrefixes;

/** The number of random bytes in a secret. */
export const secretRandomBytes = 20;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const bodyLength = 27; // 62^27 > 2^160
const checksumLength = 6; // 62^6 > 2^32

/**
 * Encodes a secret: the prefix, 160 random bits in base62, and the CRC-32 of both in base62.
 *
 * @param random {@link secretRandomBytes} bytes from a cryptographic source
 * @throws RangeError for another number of bytes
 */
export function makeSecret(kind: SecretKind, random: Uint8Array): string {
  if (random.length !== secretRandomBytes) {
    throw new RangeError(`A secret needs ${secretRandomBytes} random bytes (got ${random.length})`);
  }
  let value = 0n;
  for (const byte of random) value = (value << 8n) | BigInt(byte);
  const payload = secretPrefixes[kind] + base62(value, bodyLength);
  return payload + base62(BigInt(crc32(payload)), checksumLength);
}

/** Whether a text is a well-formed secret of the kind: prefix, length, alphabet and checksum. Detects typing errors. */
export function isSecret(kind: SecretKind, text: string): boolean {
  const prefix = secretPrefixes[kind];
  if (text.length !== prefix.length + bodyLength + checksumLength || !text.startsWith(prefix)) return false;
  if (!/^[0-9A-Za-z]+$/.test(text.slice(prefix.length))) return false;
  const payload = text.slice(0, -checksumLength);
  return text.slice(-checksumLength) === base62(BigInt(crc32(payload)), checksumLength);
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value, digit = 0; digit < length; digit++, rest /= 62n) text = alphabet[Number(rest % 62n)] + text;
  return text;
}

/** CRC-32 as in ISO 3309 and zlib, over ASCII. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index++) {
    crc ^= text.charCodeAt(index);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
