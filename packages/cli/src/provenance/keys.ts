import { hash } from 'node:crypto';
import { ClientError } from '@tenon/client';
import { readTrustedKeys, type SigningKey, type TrustedKey } from '@tenon/client/provenance';
import { signingKeys } from '@tenon/protocol';
import type { Api } from '../api.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { readInput } from '../files.ts';
import type { Io } from '../io.ts';

export const signingKeysPath = '/.well-known/tenon-signing-keys.json';

/** Reads pinned keys: PEM, or the JSON of `tenon signing-keys --json`. @throws CliError */
export async function readPinnedKeys(io: Pick<Io, 'stdin'>, files: readonly string[]): Promise<readonly TrustedKey[]> {
  const keys: TrustedKey[] = [];
  for (const file of files) {
    const text = new TextDecoder().decode(await readInput(io, file, 'the signing key'));
    keys.push(...checkKeys(parseKeys(text, file), file));
  }
  if (files.length > 0 && keys.length === 0) throw usageError('The files of --key contain no key.');
  return keys;
}

function parseKeys(text: string, file: string): unknown {
  if (!/^\s*\{/.test(text)) return text.split(/(?<=-----END PUBLIC KEY-----)\s+(?=-)/);
  try {
    const { keys } = JSON.parse(text);
    return keys;
  } catch (cause) {
    throw invalidKeys(file, 'it is not JSON', cause);
  }
}

function checkKeys(keys: unknown, file: string): readonly TrustedKey[] {
  try {
    const trusted = readTrustedKeys(keys, 'keys');
    const other = trusted.find(({ keyId, spki }) => keyId !== undefined && keyId !== hash('sha256', spki, 'hex'));
    if (other !== undefined) throw invalidKeys(file, `\`${other.option}.keyId\` is not the SHA-256 of \`publicKey\``);
    return trusted;
  } catch (cause) {
    if (cause instanceof ClientError) throw invalidKeys(file, cause.message, cause);
    throw cause;
  }
}

function invalidKeys(file: string, why: string, cause?: unknown): CliError {
  return new CliError('invalid_key', `${file} contains no signing keys: ${why}`, {
    exitCode: exitCodes.refused,
    hint: 'A file has Ed25519 public keys in PEM, or what `tenon signing-keys --json` writes.',
    cause,
  });
}

/** The keys that the server publishes. */
export async function fetchSigningKeys(api: Pick<Api, 'get'>): Promise<readonly SigningKey[]> {
  const { keys } = await api.get(signingKeysPath, signingKeys);
  return keys;
}

/** Like {@link fetchSigningKeys}, checked for use. */
export async function fetchTrustedKeys(api: Pick<Api, 'get'>): Promise<readonly TrustedKey[]> {
  return checkKeys(await fetchSigningKeys(api), `The server's ${signingKeysPath}`);
}
