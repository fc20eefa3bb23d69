import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { instrument } from '@tenon/instrument';
import { type RunningServer, root, startServer, withoutTenon } from './helpers/server.ts';
import { until } from './helpers/until.ts';
import { wat } from './helpers/wat.ts';

const example = join(root, 'examples', 'web-host');
const sample = join(root, 'packages', 'server', 'sample', 'greet.wat');

/** The example, in a process of its own. */
interface Host {
  greet(
    name: string,
    guestKey?: string,
    headers?: Record<string, string>,
  ): Promise<{ readonly status: number; readonly text: string }>;
  /** What it has printed until now. */
  said(): string;
  stop(): Promise<void>;
}

/** The sample plugin with other words of the same length. */
async function greeter(words: string): Promise<Uint8Array> {
  const text = await readFile(sample, 'utf8');
  assert.equal(words.length, 'Hello, '.length);
  return wat(text.replace('"Hello, "', `"${words}"`));
}

async function publish({ quickstart }: RunningServer, bytes: Uint8Array): Promise<void> {
  const { TENON_URL, TENON_TOKEN, TENON_EXTENSION_POINT_ID, TENON_USER_ID } = quickstart;
  const url = `${TENON_URL}/api/v1/artifacts/${TENON_EXTENSION_POINT_ID}/plugin/${TENON_USER_ID}/greet`;
  const headers = { authorization: `Bearer ${TENON_TOKEN}`, 'content-type': 'application/wasm' };
  const response = await fetch(url, { method: 'PUT', headers, body: new Uint8Array(bytes) });
  assert.ok(response.ok, await response.text());
}

describe('examples/web-host', () => {
  let server: RunningServer;
  let host: Host;

  before(async () => {
    server = await startServer();
    host = await startHost(server);
  });
  after(async () => {
    await host?.stop();
    await server?.stop();
  });

  it("answers web requests by the guest's plugin", async () => {
    assert.deepEqual(await host.greet('Ada'), { status: 200, text: 'Hello, Ada!\n' });
    const many = await Promise.all(Array.from({ length: 50 }, (_, at) => host.greet(`guest ${at}`)));
    assert.deepEqual(
      many.map(({ text }) => text),
      many.map((_, at) => `Hello, guest ${at}!\n`),
    );
  });

  it('tells a guest without the plugin, and what is no request for one', async () => {
    assert.equal((await host.greet('Ada', 'nobody/at all')).status, 404);
    assert.equal((await host.greet('A'.repeat(100_000))).status, 413);
  });

  it('picks up a new version while it runs, and no request fails meanwhile', async () => {
    const seen = new Set<string>();
    let isDone = false;
    const visits = Array.from({ length: 4 }, async () => {
      while (!isDone) {
        const { status, text } = await host.greet('Ada');
        assert.equal(status, 200, text);
        seen.add(text);
        await sleep(1);
      }
    });
    const visitors = Promise.all(visits);
    visitors.catch(() => {}); // errors of a visitor are reported at the end
    await publish(server, await greeter('Howdy, '));
    await until(async () => seen.has('Howdy, Ada!\n'));
    isDone = true;
    await visitors;
    assert.deepEqual([...seen], ['Hello, Ada!\n', 'Howdy, Ada!\n']);
  });

  it('stops a plugin that never ends, and continues with the next version', async () => {
    await publish(server, wat('(module (func (export "greet") (result i32) (loop (br 0)) (i32.const 0)))'));
    await until(async () => (await host.greet('Ada')).status === 502);
    assert.match((await host.greet('Ada')).text, /took more than \d+ ms/);
    await publish(server, await greeter('Heyho, '));
    await until(async () => (await host.greet('Ada')).text === 'Heyho, Ada!\n');
  });

  it("survives the server's death, and starts again without it", async () => {
    await server.kill();
    assert.deepEqual(await host.greet('Ada'), { status: 200, text: 'Heyho, Ada!\n' });
    await until(async () => {
      await host.greet('Ada');
      return /The server is unavailable \(network\)/.test(host.said());
    });
    await host.stop();
    host = await startHost(server);
    assert.deepEqual(await host.greet('Eve'), { status: 200, text: 'Heyho, Eve!\n' });

    await server.restart();
    await publish(server, await greeter('Hallo, '));
    await until(async () => (await host.greet('Ada')).text === 'Hallo, Ada!\n');
    assert.match(host.said(), /The server is available again/);
  });

  it("traces an instrumented plugin below the request's traceparent, and counts its calls", async () => {
    await publish(server, instrument(await greeter('Traced ')).bytes);
    const traced = await startHost(server, {
      TRACE: '{"span_filter": {"min_duration_microseconds": 0}}',
      PLUGIN_FOLDER: join(server.folder, 'traced-plugins'),
    });
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    try {
      assert.deepEqual(await traced.greet('Ada', undefined, headers), { status: 200, text: 'Traced Ada!\n' });
      // The host's span of the call, and the plugin's span within it.
      await until(async () => traced.said().split(`traceId: '${traceId}'`).length > 3);
      assert.match(traced.said(), /spanId: 'b7ad6b7169203331'/);
      assert.match(traced.said(), /'wasm\.function\.index'/);
      await until(async () => /name: 'wasm\.function\.calls'/.test(traced.said()));
    } finally {
      await traced.stop();
    }
  });

  it('says which variable is missing', async () => {
    const child = run({ TENON_TOKEN: '' });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const [code] = await once(child, 'exit');
    assert.notEqual(code, 0);
    assert.match(said, /TENON_TOKEN is not set/);
  });

  function run(change: Readonly<Record<string, string>> = {}) {
    const folder = join(server.folder, 'plugins');
    return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'src/main.ts'], {
      cwd: example,
      env: {
        ...withoutTenon(process.env),
        ...server.quickstart,
        PORT: '0',
        PLUGIN_FOLDER: folder,
        MAX_AGE_MS: '50',
        CALL_TIMEOUT_MS: '2000',
        ...change,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  async function startHost({ quickstart }: RunningServer, change?: Record<string, string>): Promise<Host> {
    const child = run(change);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    }
    await until(async () => /Serving http:\/\/[^/]+\//.test(said) || child.exitCode !== null);
    const [, origin = ''] = /Serving (http:\/\/[^/]+)\//.exec(said) ?? [];
    assert.notEqual(origin, '', said);
    return {
      said: () => said,
      async greet(name, guestKey = quickstart.TENON_GUEST_KEY ?? '', headers = {}) {
        const url = `${origin}/guests/${encodeURIComponent(guestKey)}/greet`;
        const response = await fetch(url, { method: 'POST', body: name, headers });
        return { status: response.status, text: await response.text() };
      },
      async stop() {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        assert.deepEqual(await ended, [0, null], said);
      },
    };
  }
});
