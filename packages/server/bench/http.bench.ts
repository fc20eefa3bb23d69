/**
 * How many requests a second A2 and A3 serve, authenticated, beside a bare `node:http` server that sends the same bodies without
 * asking who calls. Each server, and the load, runs in a process of its own; the two servers take turns in short rounds, so
 * that what else the machine does meanwhile falls on both. The time that a server's own process spends on a request depends
 * less on that; a server that is busy all the time serves its inverse.
 */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import process from 'node:process';
import { promisify } from 'node:util';

const rounds = 4;
const secondsARound = 2;
const connections = 16;
const run = promisify(execFile);
const autocannon = createRequire(import.meta.url).resolve('autocannon/autocannon.js');

interface Ready {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly bindings: string;
  readonly contents: readonly [string, string];
}

interface Load {
  readonly requestsPerSecond: number;
  /** Time of the server's process, in microseconds. */
  readonly cpuUsPerRequest: number;
  readonly p99Ms: number;
}

async function cpuUs(server: ChildProcess): Promise<number> {
  server.send('cpu');
  const [{ user, system }] = (await once(server, 'message')) as [NodeJS.CpuUsage];
  return user + system;
}

async function load(
  server: ChildProcess,
  url: string,
  headers: Readonly<Record<string, string>>,
  expected: number,
): Promise<Load> {
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = [autocannon, '-j', '-n', '-c', String(connections), '-d', String(secondsARound), ...fields, url];
  const before = await cpuUs(server);
  const { stdout } = await run(process.execPath, args, { maxBuffer: 1 << 24 });
  const result = JSON.parse(stdout);
  const wanted = result.statusCodeStats?.[expected]?.count ?? 0;
  if (wanted === 0 || wanted !== result.requests.total || result.errors > 0) {
    throw new Error(`${url}: expected ${expected} alone, got ${JSON.stringify(result.statusCodeStats)}`);
  }
  const cpuUsPerRequest = ((await cpuUs(server)) - before) / result.requests.total;
  return { requestsPerSecond: result.requests.average, cpuUsPerRequest, p99Ms: result.latency.p99 };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

const tenon = fork(new URL('./support/tenon-server.ts', import.meta.url));
const bare = fork(new URL('./support/bare-server.ts', import.meta.url));
try {
  const [ready] = (await once(tenon, 'message')) as [Ready];
  const answers: Record<string, { headers: Record<string, string>; base64: string }> = {};
  for (const path of [ready.bindings, ...ready.contents]) {
    const response = await fetch(ready.url + path, { headers: ready.headers });
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
    const etag = response.headers.get('etag') ?? '';
    const contentType = response.headers.get('content-type') ?? '';
    const base64 = Buffer.from(await response.arrayBuffer()).toString('base64');
    answers[path] = { headers: { etag, 'content-type': contentType }, base64 };
  }
  bare.send(answers);
  const [barePort] = (await once(bare, 'message')) as [number];

  const [small, large] = ready.contents;
  const etag = answers[ready.bindings]?.headers.etag ?? '';
  const cases = [
    { name: 'A2, 304', path: ready.bindings, headers: { 'if-none-match': etag }, status: 304 },
    { name: 'A2, 200', path: ready.bindings, headers: {}, status: 200 },
    { name: 'A3, 64 KiB', path: small, headers: {}, status: 200 },
    { name: 'A3, 1 MiB', path: large, headers: {}, status: 200 },
  ];
  console.log('requests a second, authenticated; median of rounds\n');
  console.log('              Tenon  node:http   ratio   CPU µs a request   ratio   p99 (ms)');
  for (const { name, path, headers, status } of cases) {
    const ours: Load[] = [];
    const theirs: Load[] = [];
    for (let round = 0; round <= rounds; round++) {
      const both = [
        await load(tenon, ready.url.replace('localhost', '127.0.0.1') + path, { ...ready.headers, ...headers }, status),
        await load(bare, `http://127.0.0.1:${barePort}${path}`, { ...ready.headers, ...headers }, status),
      ] as const;
      if (round === 0) continue; // to warm up
      ours.push(both[0]);
      theirs.push(both[1]);
    }
    const mine = median(ours.map((one) => one.requestsPerSecond));
    const other = median(theirs.map((one) => one.requestsPerSecond));
    const ratio = median(ours.map((one, at) => one.requestsPerSecond / (theirs[at]?.requestsPerSecond ?? 1)));
    const p99 = `${median(ours.map((one) => one.p99Ms))}/${median(theirs.map((one) => one.p99Ms))}`;
    const [cpu, otherCpu] = [ours, theirs].map((all) => median(all.map((one) => one.cpuUsPerRequest)));
    const cpuRatio = median(ours.map((one, at) => (theirs[at]?.cpuUsPerRequest ?? 1) / one.cpuUsPerRequest));
    const columns = [
      name.padEnd(10),
      mine.toFixed(0).padStart(8),
      other.toFixed(0).padStart(10),
      ratio.toFixed(2).padStart(7),
      `${cpu?.toFixed(1)}/${otherCpu?.toFixed(1)}`.padStart(18),
      cpuRatio.toFixed(2).padStart(7),
      p99.padStart(10),
    ];
    console.log(columns.join(' '));
  }
} finally {
  tenon.disconnect();
  bare.disconnect();
}
