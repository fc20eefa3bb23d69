import { writeSync } from 'node:fs';
import type { Backend } from './backend.ts';
import { openPublisher, type Stage } from './publisher.ts';

/*
 * Publishes one plugin again and again, and prints a line for each publish that was answered. With a step, it kills itself
 * at that step of a publish; without, it goes on until it is killed.
 */

interface Job {
  readonly location: string;
  readonly stage: Stage;
  readonly plugin: string;
  /** How many publishes are to be whole. */
  readonly publishesBefore: number;
  readonly step?: string;
}

const [module, text] = process.argv.slice(2) as [string, string];
const { backend } = (await import(module)) as { backend: Backend };
const job = JSON.parse(text) as Job;

let answered = 0;
const publisher = await openPublisher(backend, job.location, job.stage, (step) => {
  // The signal to oneself is delivered before the call returns: nothing runs after it.
  if (step === job.step && answered === job.publishesBefore) process.kill(process.pid, 'SIGKILL');
});
say('ready');
for (; answered < 100_000; answered++) {
  say(JSON.stringify(await publisher.publish(job.plugin, answered)));
}

/** Writes at once: what a stream still held back would be lost with the process. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}
