import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';

/** Knows the passwords that people use most, and many that were leaked. */
export interface CommonPasswords {
  /** @param text in lower case */
  has(text: string): Promise<boolean>;
}

/** The list that ships with the server; see `data/README.md` for its source. */
const listFile = new URL('../../../data/common-passwords.txt.br', import.meta.url);

/**
 * The list of common and leaked passwords, loaded on first use. It stays one string: a search takes less than a millisecond, and a Set of
 * its lines would need ten times the memory.
 */
export function createCommonPasswords(file: URL = listFile): CommonPasswords {
  let list: Promise<string> | undefined;
  const load = async (): Promise<string> => {
    const packed = await readFile(file);
    return (await promisify(brotliDecompress)(packed)).toString('latin1');
  };
  return {
    async has(text) {
      list ??= load();
      return !text.includes('\n') && (await list).includes(`\n${text}\n`);
    },
  };
}
