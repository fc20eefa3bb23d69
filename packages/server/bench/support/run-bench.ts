import type { CaseName } from './cases.ts';
import { type CaseResult, compare } from './compare.ts';
import type { Contender } from './contenders.ts';
import { startLoadGenerator } from './load.ts';
import { type BenchOptions, help, readOptions, tellFailure } from './options.ts';
import { describeMachine, formatCase, type Report } from './report.ts';
import { createProgress, type Defer, type Progress, withFolder } from './run.ts';

/** A benchmark that puts cases to servers in turn. */
export interface Bench {
  /** What the ratios are to. */
  readonly base: string;
  /** What cases are called, where that is not as everywhere; those that have no name here are left out then. */
  readonly titles?: Readonly<Partial<Record<CaseName, string>>>;
  /** Starts the servers, and defers their ends. The first is what the ratios are to. */
  start(options: BenchOptions, folder: string, defer: Defer, progress: Progress): Promise<readonly Contender[]>;
}

/** Runs a benchmark as the command line says. */
export async function runBench(args: readonly string[], bench: Bench): Promise<void> {
  try {
    const options = readOptions(args);
    if (options === 'help') {
      console.log(help);
      return;
    }
    if (!options.isJson) console.log(`${describeMachine()}\n${method(options, bench.base)}\n`);
    const report = await withFolder((folder, defer) => measure(bench, options, folder, defer));
    if (options.isJson) console.log(JSON.stringify(report, undefined, 2));
  } catch (error) {
    tellFailure(error);
  }
}

async function measure(bench: Bench, options: BenchOptions, folder: string, defer: Defer): Promise<Report> {
  const { titles } = bench;
  const progress = createProgress();
  const contenders = await bench.start(options, folder, defer, progress);
  const generator = startLoadGenerator(options.generators);
  defer(() => generator.close());
  const results: CaseResult[] = [];
  for (const name of options.cases) {
    if (titles !== undefined && titles[name] === undefined) continue;
    const measured = await compare(generator, name, contenders, { ...options, onProgress: progress.tell });
    const result = { ...measured, title: titles?.[name] ?? measured.title };
    progress.clear();
    if (!options.isJson) console.log(formatCase(result));
    results.push(result);
  }
  const { rounds, secondsARound } = options;
  return { machine: describeMachine(), rounds, secondsARound, cases: results };
}

function method({ rounds, secondsARound }: BenchOptions, base: string): string {
  const counted = `${rounds} ${rounds === 1 ? 'round' : 'rounds'} of ${secondsARound} s`;
  return `Medians of ${counted}, in turns. Ratios are to ${base} in the same round: of requests a second, and of CPU the other way round.`;
}
