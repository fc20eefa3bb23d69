import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { numberedModule } from '../packages/client/test/helpers/numbered-module.ts';
import { openStage, type Stage } from '../packages/client/test/helpers/stage.ts';
import { casesOf } from './helpers/conformance.ts';
import { type HostLanguage, hostLanguages, skipReason } from './helpers/host-languages.ts';
import { createRandom } from './helpers/random.ts';
import { root, withoutTenon } from './helpers/server.ts';
import { until } from './helpers/until.ts';

const maxLines = 150;
/** Cargo also builds the TLS library of the host in Rust, and the cases start more than a hundred hosts. */
const timeout = 20 * 60_000;
const guestKey = 'customers/ünï/acme & co';

/** Bytes like those of no other host and version. */
const random = createRandom(21);
let number = 0;

for (const language of hostLanguages) {
  describe(`examples/${language.source}`, { skip: skipReason(language), timeout }, () => {
    let folder: string;
    let env: NodeJS.ProcessEnv;

    before(
      async () => {
        folder = await mkdtemp(join(tmpdir(), 'tenon-host-'));
        env = { ...withoutTenon(process.env), ...language.environment?.(folder) };
        const [program = '', ...args] = language.build?.(folder) ?? ['true'];
        const cwd = dirname(join(root, 'examples', language.source));
        await promisify(execFile)(program, args, { cwd, env });
      },
      { timeout },
    );
    after(() => rm(folder, { recursive: true, force: true }));

    it(`has at most ${maxLines} lines`, () => {
      const lines = readFileSync(join(root, 'examples', language.source), 'utf8')
        .trimEnd()
        .split('\n');
      assert.ok(lines.length <= maxLines, `${lines.length} lines`);
      for (const line of lines) assert.ok(line.length <= 140, line);
    });

    it('passes tenon client-conformance in every case', { timeout }, async () => {
      const cases = await casesOf(language.run(folder), [], env);
      assert.deepEqual(
        cases.filter(({ result }) => result !== 'passed'),
        [],
      );
    });

    it('follows a real server, and starts from its cache while the server is down', async (test) => {
      const stage = await openStage();
      test.after(() => stage.close());
      await stage.invite(guestKey);
      const publish = async (name: string) => {
        const module = numberedModule(++number, random, 5_000);
        await stage.publish(guestKey, name, module);
        return module.address;
      };
      const sum = await publish('sum');
      const token = await stage.issueToken();
      const cacheFolder = join(folder, 'plugins');
      const start = () => startHost(language, folder, { ...env, ...variables(stage, token.token, cacheFolder) });

      const first = start();
      test.after(() => first.kill());
      await first.shows({ sum });
      const greet = await publish('greet');
      await first.shows({ greet, sum });
      await stage.server.kill();
      await first.kill();

      const second = start();
      test.after(() => second.kill());
      await second.shows({ greet, sum });
      await stage.server.restart();
      const newer = await publish('greet');
      await second.shows({ greet: newer, sum });
      await token.revoke();
      await until(() => second.stderr().includes('401'), { timeoutMs: 30_000 });
      assert.deepEqual(second.state(), { greet: newer, sum });
    });
  });
}

function variables(stage: Stage, token: string, cacheFolder: string): Record<string, string> {
  return {
    TENON_URL: stage.url,
    TENON_TOKEN: token,
    TENON_EXTENSION_POINT_ID: stage.extensionPointId,
    TENON_GUEST_KEY: guestKey,
    TENON_CACHE_DIR: cacheFolder,
  };
}

function startHost({ run }: HostLanguage, folder: string, env: NodeJS.ProcessEnv) {
  const [program = '', ...args] = run(folder);
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let state: unknown;
  let stderr = '';
  createInterface(child.stdout).on('line', (line) => {
    state = JSON.parse(line);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return {
    state: () => state,
    stderr: () => stderr,
    async shows(wanted: Readonly<Record<string, string>>) {
      const isShown = () => JSON.stringify(sorted(state)) === JSON.stringify(sorted(wanted));
      await until(isShown, { timeoutMs: 30_000 }).catch(() => assert.deepEqual(state, wanted, stderr));
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function sorted(value: unknown): unknown {
  return Object.entries(value ?? {}).sort();
}
