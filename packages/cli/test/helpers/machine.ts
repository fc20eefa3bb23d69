import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { makeFolder } from './server.ts';

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

/** Looks until there is something to see. */
export async function until<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (const deadline = performance.now() + 20_000; performance.now() < deadline; await wait(20)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  return assert.fail('It did not come.');
}
