/**
 * Compares the server of this checkout with the server of another checkout, such as an earlier commit's worktree, and both with a
 * bare `node:http` server: requests per second and CPU time per request, the time from a start to the first response, and idle memory.
 *
 *     npm run bench -- compare <path of the other checkout> [--rounds 5] [--seconds 2] [--idle-seconds 10] [--json]
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, parseEnv } from 'node:util';
import { type CaseName, kindsOf } from './support/cases.ts';
import { type CaseResult, compare, type Row } from './support/compare.ts';
import { startBare, type TenonContender, withoutLimitsInAnyTree } from './support/contenders.ts';
import { startLoadGenerator } from './support/load.ts';
import { OptionError, readCount, readSeconds, tellFailure } from './support/options.ts';
import { memoryBytes } from './support/processes.ts';
import { describeMachine } from './support/report.ts';
import { createProgress, type Defer, type Progress, withFolder } from './support/run.ts';
import { setStage } from './support/stage.ts';
import { median } from './support/statistics.ts';
import { startTreeServer } from './support/tree-server.ts';

const caseNames: readonly CaseName[] = ['a2-304', 'a2-200', 'a3-64k', 'a3-1m', 'publish'];

interface Options {
  readonly trees: { readonly this: string; readonly other: string };
  readonly rounds: number;
  readonly secondsARound: number;
  readonly idleSeconds: number;
  readonly isJson: boolean;
}

/** Medians of the rounds. */
interface Figures {
  readonly startMs: number | undefined;
  readonly idleBytes: number | undefined;
}

export interface Comparison {
  readonly machine: string;
  readonly this: Figures;
  readonly other: Figures;
  readonly cases: readonly CaseResult[];
}

try {
  const options = readOptions(process.argv.slice(2));
  const comparison = await withFolder((folder, defer) => measure(options, folder, defer));
  console.log(options.isJson ? JSON.stringify(comparison, undefined, 2) : formatComparison(comparison, options));
} catch (error) {
  tellFailure(error);
}

function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parse(args);
  const [other, ...rest] = positionals;
  if (other === undefined || rest.length > 0) throw new OptionError('Expected the path of one other checkout.');
  return {
    trees: { this: resolve(import.meta.dirname, '../../..'), other: resolve(other) },
    rounds: readCount('--rounds', values.rounds),
    secondsARound: readSeconds(values.seconds),
    idleSeconds: readSeconds(values['idle-seconds']),
    isJson: values.json,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        rounds: { type: 'string', default: '5' },
        seconds: { type: 'string', default: '2' },
        'idle-seconds': { type: 'string', default: '10' },
        json: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new OptionError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function measure(options: Options, folder: string, defer: Defer): Promise<Comparison> {
  const progress = createProgress();
  const { trees, rounds, secondsARound } = options;
  const folders = { this: join(folder, 'this'), other: join(folder, 'other') };
  // The first start sets the checkout up and creates the data; it is not measured.
  for (const name of ['this', 'other'] as const) {
    progress.tell(`first start: ${name}`);
    await (await startTreeServer(trees[name], folders[name], withoutLimitsInAnyTree)).stop();
  }
  const figures = await measureStarts(options, folders, progress);
  const ours = await startContender('this checkout', trees.this, folders.this);
  defer(() => ours.stop());
  const other = await startContender('other checkout', trees.other, folders.other);
  defer(() => other.stop());
  const bare = await startBare(ours);
  defer(() => bare.stop());
  const generator = startLoadGenerator(1);
  defer(() => generator.close());
  const cases: CaseResult[] = [];
  for (const name of caseNames) {
    cases.push(
      await compare(generator, name, [bare, ours, other], { rounds, secondsARound, onProgress: progress.tell }),
    );
  }
  progress.clear();
  return { machine: describeMachine(), ...figures, cases };
}

/** Starts both servers in turn. */
async function measureStarts(
  { trees, rounds, idleSeconds }: Options,
  folders: Options['trees'],
  progress: Progress,
): Promise<{ readonly this: Figures; readonly other: Figures }> {
  const samples = {
    this: { startMs: [] as number[], bytes: [] as number[] },
    other: { startMs: [] as number[], bytes: [] as number[] },
  };
  for (let round = 1; round <= rounds; round++) {
    for (const name of ['this', 'other'] as const) {
      progress.tell(`start and idle memory: round ${round} of ${rounds}, ${name}`);
      const server = await startTreeServer(trees[name], folders[name], withoutLimitsInAnyTree);
      await sleep(idleSeconds * 1000);
      const bytes = memoryBytes([server.pid]);
      await server.stop();
      samples[name].startMs.push(server.startMs);
      if (bytes !== undefined) samples[name].bytes.push(bytes);
    }
  }
  const figuresOf = (name: 'this' | 'other'): Figures => ({
    startMs: median(samples[name].startMs),
    idleBytes: median(samples[name].bytes),
  });
  return { this: figuresOf('this'), other: figuresOf('other') };
}

async function startContender(name: string, tree: string, folder: string): Promise<TenonContender> {
  const server = await startTreeServer(tree, folder, withoutLimitsInAnyTree);
  try {
    const quickstart = parseEnv(readFileSync(join(folder, 'data', 'quickstart.env'), 'utf8'));
    const { TENON_USER_ID: id = '', TENON_TOKEN: token = '', TENON_API_KEY: key = '' } = quickstart;
    const stage = await setStage(server.port, { id, token, key });
    const list = await fetch(`http://127.0.0.1:${server.port}${stage.bindings}`, { headers: stage.headers });
    const kinds = kindsOf(stage, list.headers.get('etag') ?? '');
    return { name, ports: [server.port], pids: [server.pid], storePids: [], kinds, stage, stop: server.stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function formatComparison(
  { machine, cases, ...figures }: Comparison,
  { rounds, secondsARound, idleSeconds }: Options,
): string {
  const lines = [
    machine,
    `Medians of ${rounds} rounds of ${secondsARound} s in turns. Ratios of CPU, time and memory: lower is better.`,
    '',
    table('', 'node:http', 'this', 'other', 'this/other', 'this/node:http'),
  ];
  for (const { title, rows } of cases) {
    const [bare, ours, other] = rows;
    const rate = (row: Row | undefined) => row?.requestsPerSecond;
    const cpu = (row: Row | undefined) => row?.cpuUsPerRequest;
    const [, name = title] = /^([^:]*)/.exec(title) ?? [];
    const rates = [rate(bare), rate(ours), rate(other)] as const;
    lines.push(table(`${name}, requests/s`, ...rates.map((value) => value?.toFixed(0)), ...ratios(rates)));
    const times = [cpu(bare), cpu(ours), cpu(other)] as const;
    lines.push(table(`${name}, CPU µs/request`, ...times.map((value) => value?.toFixed(1)), ...ratios(times)));
  }
  const start = [undefined, figures.this.startMs, figures.other.startMs] as const;
  lines.push(table('start to first response, ms', ...start.map((value) => value?.toFixed(0)), ...ratios(start)));
  const idle = [undefined, figures.this.idleBytes, figures.other.idleBytes] as const;
  const mib = idle.map((value) => (value === undefined ? undefined : (value / 2 ** 20).toFixed(1)));
  lines.push(table(`memory after ${idleSeconds} s idle, MiB (PSS)`, ...mib, ...ratios(idle)));
  return lines.join('\n');
}

type Values = readonly [bare: number | undefined, ours: number | undefined, other: number | undefined];

function ratios([bare, ours, other]: Values): readonly (string | undefined)[] {
  return [other, bare].map((base) => (ours === undefined || !base ? undefined : (ours / base).toFixed(2)));
}

function table(name: string, ...cells: readonly (string | undefined)[]): string {
  return name.padEnd(38) + cells.map((cell) => (cell ?? '–').padStart(15)).join('');
}
