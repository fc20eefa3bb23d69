import { createPrivateKey } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Reader } from './readers.ts';

/** A private key in a file. */
export interface KeyFile {
  readonly path: string;
  readonly privateKeyPem: string;
  /** Whether other users of the machine may read the file. */
  readonly isExposed: boolean;
}

/** The path of an Ed25519 private key in PEM (PKCS #8). */
export const signingKeyFile: Reader<KeyFile> = (path) => {
  const privateKeyPem = readText(path);
  let type: string | undefined;
  try {
    type = createPrivateKey(privateKeyPem).asymmetricKeyType;
  } catch {
    throw new Error(`must name a private key in PEM without a passphrase, not ${JSON.stringify(path)}`);
  }
  if (type !== 'ed25519') throw new Error(`must name an Ed25519 key, not one of type ${type}`);
  return { path, privateKeyPem, isExposed: (statSync(path).mode & 0o077) !== 0 };
};

/** Paths of Sigstore trusted roots, separated by commas. A file has one JSON document, or one in each line. */
export const trustedRootFiles: Reader<readonly unknown[]> = (paths) =>
  paths.split(',').flatMap((path) => readRoots(path.trim()));

function readRoots(path: string): unknown[] {
  const text = readText(path);
  const roots =
    parseJson(text) ??
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map(parseJson);
  const list = Array.isArray(roots) ? roots : [roots];
  if (list.length > 0 && list.every(isTrustedRoot)) return list;
  throw new Error(`must name Sigstore trusted roots in JSON, not ${JSON.stringify(path)}`);
}

function isTrustedRoot(root: unknown): boolean {
  return typeof root === 'object' && root !== null && 'certificateAuthorities' in root;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`cannot be read: ${(error as NodeJS.ErrnoException).code} for ${JSON.stringify(path)}`);
  }
}
