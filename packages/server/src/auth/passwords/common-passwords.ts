import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';

/** The passwords that are used most, and many leaked ones. */
export interface CommonPasswords {
  /** @param text the password in lower case */
  has(text: string): Promise<boolean>;
}

/** The list that ships with the server; see `data/README.md` for its source. */
const listFile = new URL('../../../data/common-passwords.txt.br', import.meta.url);

/**
 * Loads the list on first use, as one string. A search takes less than a millisecond, and a Set of its lines would need ten times the
 * memory.
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
