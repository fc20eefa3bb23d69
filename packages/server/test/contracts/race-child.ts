import { writeSync } from 'node:fs';
import type { Backend } from './backend.ts';
import { openCollector } from './collector.ts';
import { openPublisher, type Stage } from './publisher.ts';
import { publishAndRemove } from './race.ts';

/*
 * Publishes and removes, or collects, for some time, and prints what it came to; or kills itself at a step, where a collector has stood
 * still before.
 */

export interface RaceJob {
  readonly location: string;
  readonly stage: Stage;
  readonly role: 'publish' | 'collect';
  /** What tells the process from others: a part of its plugins' names, and how many hours its clock is ahead. */
  readonly number: number;
  /** For how long, in milliseconds. */
  readonly forMs: number;
  /**
   * Where to be killed: a publisher the second time that the step comes, a collector the third time. The second time it stands still,
   * having printed `frozen`.
   */
  readonly step?: string;
}

/** For how long a racer stands still between two steps, in milliseconds. */
const maxPauseMs = 15;

const [module, text] = process.argv.slice(2) as [string, string];
const { backend } = (await import(module)) as { backend: Backend };
const job = JSON.parse(text) as RaceJob;

let seen = 0;
const stillness = new Int32Array(new SharedArrayBuffer(4));
const onStep = (step: string): void => {
  // Pausing now and then, as a busy machine has it, lets others in where they would hardly ever come.
  if (job.step === undefined && Math.random() < 0.15) Atomics.wait(stillness, 0, 0, Math.random() * maxPauseMs);
  if (step !== job.step || ++seen < 2) return;
  const standsStill = job.role === 'collect' && seen === 2;
  if (standsStill) writeSync(1, 'frozen\n');
  // The signal to oneself is delivered before the call returns: nothing runs after it.
  process.kill(process.pid, standsStill ? 'SIGSTOP' : 'SIGKILL');
};
const endMs = Date.now() + job.forMs;
const isOver = () => Date.now() >= endMs;
const outcome = await (job.role === 'publish' ? publishes() : collects());
writeSync(1, JSON.stringify(outcome));

async function publishes(): Promise<{ published: number }> {
  const publisher = await openPublisher(backend, job.location, job.stage, onStep);
  const published = await publishAndRemove(publisher, `racer-${job.number}`, isOver);
  await publisher.close();
  return { published };
}

async function collects(): Promise<{ deleted: number }> {
  const collector = await openCollector(backend, job.location, job.number, onStep);
  let deleted = 0;
  while (!isOver()) deleted += (await collector.collect())?.deleted ?? 0;
  await collector.close();
  return { deleted };
}
