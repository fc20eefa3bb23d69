import { readFileSync, statSync } from 'node:fs';
import { idPattern } from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { faultsOf } from '@tenon/protocol/validate';
import type { Static } from 'typebox';
import { isLoopback } from './listen-address.ts';
import type { Reader } from './readers.ts';

/* The file that `TENON_MIRROR_FILE` names: JSON with the source of a mirror, and a token for it. */

const maxFileBytes = 64 * 1024;

/** The most extension points that the file may list. */
const maxExtensionPoints = 1000;

const mirrorFileContent = Type.Object(
  {
    source: Type.String({ minLength: 1, maxLength: 2000 }),
    token: Type.String({ pattern: '^[!-~]+$', maxLength: 200 }),
    extensionPoints: Type.Optional(
      Type.Array(Type.String({ pattern: idPattern('extensionPoint') }), { minItems: 1, maxItems: maxExtensionPoints }),
    ),
  },
  { additionalProperties: false },
);

/** What a mirror follows. */
export interface MirrorSettings {
  readonly path: string;
  /** The URL of the source, without a trailing slash. */
  readonly source: string;
  /** An access token of the source, with the scope `read`. */
  readonly token: string;
  /** The extension points to follow; `undefined` for all that the token may read. */
  readonly extensionPoints: readonly string[] | undefined;
  /** Problems of the file that don't prevent the start. */
  readonly warnings: readonly string[];
}

/** Reads the file at a path. */
export const mirrorFile: Reader<MirrorSettings> = (path) => {
  const content = parse(path);
  const faults = faultsOf(mirrorFileContent, content).map(({ pointer, detail }) => `${pointer || '/'} ${detail}`);
  if (faults.length > 0) throw faultsIn(path, faults);
  const { source, token, extensionPoints } = content as Static<typeof mirrorFileContent>;
  const url = URL.parse(source);
  const isPlain = url !== null && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (!isPlain || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw faultsIn(path, ['/source must be an https or http URL without credentials, query and fragment']);
  }
  const warnings: string[] = [];
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    warnings.push(`TENON_MIRROR_FILE: other users can read ${path}; its mode should be 0600`);
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    warnings.push('TENON_MIRROR_FILE: the source is an http URL, so the network can read the token and the plugins');
  }
  return { path, source: url.href.replace(/\/+$/, ''), token, extensionPoints, warnings };
};

function faultsIn(path: string, faults: readonly string[]): Error {
  return new Error(`names the file ${path}, which is not valid: ${faults.join('; ')}`);
}

function parse(path: string): unknown {
  let text: string;
  try {
    const { size } = statSync(path);
    if (size > maxFileBytes) throw new Error(`it has ${size} bytes, and ${maxFileBytes} is the maximum`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`names a file that can't be read: ${error instanceof Error ? error.message : error}`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw faultsIn(path, ['it is not JSON']); // the error of the parser would quote the token
  }
}
