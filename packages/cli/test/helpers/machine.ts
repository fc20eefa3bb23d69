import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { until } from '../../../../test/helpers/until.ts';
import { makeFolder } from './folder.ts';

/** A person's machine: a home of its own, and a browser that is a script which notes what it is to show. */
export interface Machine {
  readonly folder: string;
  readonly environment: Record<string, string>;
  /** The address that the program has opened. */
  readonly opened: () => Promise<string>;
}

export async function newMachine(t: TestContext): Promise<Machine> {
  const { path: folder, remove } = await makeFolder();
  t.after(remove);
  const browser = join(folder, 'browser');
  const address = join(folder, 'address');
  await writeFile(browser, `#!/bin/sh\nprintf %s "$1" > '${address}.new' && mv '${address}.new' '${address}'\n`, {
    mode: 0o755,
  });
  return {
    folder,
    environment: { HOME: folder, BROWSER: browser, TENON_DATA_DIR: join(folder, 'none') },
    opened: () => until(() => readFile(address, 'utf8').catch(() => undefined)),
  };
}
