import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Backend } from '../backend.ts';
import type { JobArguments, JobName, JobResult } from './jobs.ts';

/*
 * Jobs in a process of their own. Run as a program, this module opens the store, prints a line, waits for one, does the job
 * and prints its result:
 *
 *   node child.ts <module of the backend> <location> <job> <arguments as JSON>
 */

const thisFile = fileURLToPath(import.meta.url);

/** Has another process open the store and make ready for a job. Resolves, when it is, with what sets it off. */
export async function prepareChild<J extends JobName>(
  backend: Backend,
  location: string,
  job: J,
  args: JobArguments<J>,
): Promise<() => Promise<JobResult<J>>> {
  const child = spawn(process.execPath, [thisFile, backend.module, location, job, JSON.stringify(args)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  return async () => {
    child.stdin.end('go\n');
    const { value } = await lines.next();
    const code = await exited;
    if (code !== 0) throw new Error(`The child that was to ${job} ended with ${code}`);
    return JSON.parse(value ?? 'null') as JobResult<J>;
  };
}

/** Has another process open the store and do a job on it. */
export async function runInChild<J extends JobName>(
  backend: Backend,
  location: string,
  job: J,
  args: JobArguments<J>,
): Promise<JobResult<J>> {
  const run = await prepareChild(backend, location, job, args);
  return run();
}

async function main(module: string, location: string, job: JobName, args: string): Promise<void> {
  const { backend } = (await import(module)) as { backend: Backend };
  const { jobs } = await import('./jobs.ts');
  const store = await backend.openStore(location);
  const run = jobs[job] as (on: typeof store, args: unknown) => Promise<unknown>;
  process.stdout.write('ready\n');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdout.write(`${JSON.stringify((await run(store, JSON.parse(args))) ?? null)}\n`);
  await store.close();
}

if (process.argv[1] === thisFile) {
  const [module, location, job, args] = process.argv.slice(2) as [string, string, JobName, string];
  await main(module, location, job, args);
}
