/**
 * What tracing adds to real programs: quickjs running a script, sqlite running queries, esbuild bundling. Each runs as it is;
 * with counters of blocks; with fuel; instrumented with hooks that do nothing; with everything traced; with the ten functions banned that are called most; and
 * with one function allowed, the one that most time is spent in. Every one in a process of its own, again and again, and the best time counts. On a busy machine only
 * the ratios mean something.
 *
 *     node packages/trace/bench/overhead.bench.ts [--budget <milliseconds of a way>] [program …]
 */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import type { OverheadResult, OverheadTask, Way } from './support/overhead-run.ts';
import { programs } from './support/programs.ts';

const { values, positionals } = parseArgs({
  options: { budget: { type: 'string', default: '3000' } },
  allowPositionals: true,
});
const budgetMs = Number(values.budget);
const runner = path.join(import.meta.dirname, 'support', 'overhead-run.ts');

const minCallsPerFigure = 10_000;

const ways: readonly (readonly [Way, string])[] = [
  ['bare', 'as it is'],
  ['coverage', 'blocks counted'],
  ['fuel', 'fuel'],
  ['hooks', 'hooks that do nothing'],
  ['all', 'everything traced'],
  ['banned', 'ten hottest banned'],
  ['allowed', 'one function allowed'],
];

function measure(program: string, way: Way, names: readonly string[] = []): OverheadResult {
  const task: OverheadTask = { program, way, names, budgetMs };
  const output = execFileSync(process.execPath, ['--no-warnings', runner, JSON.stringify(task)], { encoding: 'utf8' });
  return JSON.parse(output.trimEnd().split('\n').at(-1) ?? '');
}

function printLine(cells: readonly string[]): void {
  console.log(cells.map((cell, index) => (index === 0 ? cell.padEnd(24) : cell.padStart(12))).join(' '));
}

for (const program of Object.keys(programs)) {
  if (positionals.length > 0 && !positionals.some((wanted) => program.includes(wanted))) continue;
  console.log(`\n${program}`);
  printLine(['', 'best', 'median', 'times', 'calls', 'spans', 'ns a call']);
  const { mostCalled, busiest = '' } = measure(program, 'profile');
  const namesOf = { banned: mostCalled, allowed: [busiest] };
  let bareMs = Number.NaN;
  for (const [way, title] of ways) {
    const names = way === 'banned' || way === 'allowed' ? namesOf[way] : [];
    const { bestMs, medianMs, calls, spans } = measure(program, way, names);
    if (way === 'bare') bareMs = bestMs;
    printLine([
      title,
      `${bestMs.toFixed(1)} ms`,
      `${medianMs.toFixed(1)} ms`,
      `${(bestMs / bareMs).toFixed(2)} x`,
      calls.toLocaleString('en'),
      spans.toLocaleString('en'),
      // Of few calls, what is measured is noise.
      calls >= minCallsPerFigure ? (((bestMs - bareMs) * 1e6) / calls).toFixed(0) : '',
    ]);
  }
}
