import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { binary } from './helpers/binary.ts';
import { makeFolder } from './helpers/folder.ts';
import { type Setting, tenon } from './helpers/streams.ts';
import { hasScript } from './helpers/terminal.ts';

let server: InProcessServer;
let folder: Awaited<ReturnType<typeof makeFolder>>;
let setting: Setting;

before(async () => {
  server = await startInProcessServer();
  folder = await makeFolder();
  const { TENON_URL, TENON_TOKEN } = server.quickstart;
  setting = { environment: { TENON_URL, TENON_TOKEN, HOME: folder.path }, workingFolder: folder.path };
  assert.equal((await tenon(['app', 'create', 'Acme Editor'], setting)).exitCode, 0);
});

after(async () => {
  await server.stop();
  await folder.remove();
});

describe('tenon completion', () => {
  it('completes in bash what is typed', { skip: !hasScript() && 'there is no script to make a terminal' }, async () => {
    for (const [typed, run] of [
      ['tenon who\t', ['whoami']],
      ['tenon app show --app Ac\t', ['app', 'show', '--app', 'Acme Editor']],
      ['tenon app show --app "Ac\t', ['app', 'show', '--app', 'Acme Editor']],
      ['tenon trace a.wasm --format=sp\t', ['trace', 'a.wasm', '--format=speedscope']],
      ['tenon plugin yank gr\t\t--rea\tx', ['plugin', 'yank', 'greet@1', '--reason', 'x']],
      ['tenon plugin yank "gr\t\t', ['plugin', 'yank', 'greet@1']],
      ['tenon inspect modu\t', ['inspect', 'module.wasm']],
    ] as const) {
      let words = await typeInBash(typed);
      // A completion gives up after two seconds, which a busy machine may need.
      for (let tries = 1; tries < 3 && !isDeepStrictEqual(words, run); tries++) words = await typeInBash(typed);
      assert.deepEqual(words, run, typed);
    }
  });
});

/** Types a line in an interactive bash. @returns the arguments with which it would run `tenon` */
async function typeInBash(line: string): Promise<string[]> {
  await writeFile(join(folder.path, 'module.wasm'), '');
  const rc = join(folder.path, 'bashrc');
  const shown = `printf 'RAN %s\\n' "\${@@Q}"`;
  const program = `tenon() { if [[ $1 == completion ]]; then '${process.execPath}' '${binary}' "$@"; else ${shown}; fi; }`;
  await writeFile(rc, `${program}\nsource <(tenon completion bash)\nPS1='> '\n`);
  const child = spawn('script', ['--quiet', '--command', `bash --rcfile '${rc}' -i`, '/dev/null'], {
    cwd: folder.path,
    env: { PATH: process.env.PATH, TERM: 'dumb', SHELL: '/bin/sh', ...setting.environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  let hasTyped = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    if (hasTyped || !screen.includes('> ')) return;
    hasTyped = true;
    child.stdin.write(`${line}\nexit\n`);
  });
  await new Promise((resolve) => child.on('close', resolve));
  return [...screen.matchAll(/^RAN '(.*)'\r?$/gm)].map(([, word]) => word as string);
}
