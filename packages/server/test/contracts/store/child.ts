import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Backend } from '../backend.ts';
import type { JobArguments, JobName, JobResult } from './jobs.ts';

/*
 * Jobs in a process of their own. Run as a program, this module does one and prints the result:
 *
 *   node child.ts <module of the backend> <location> <job> <arguments as JSON>
 */

const thisFile = fileURLToPath(import.meta.url);

/** Has another process open the store and do a job on it. */
export async function runInChild<J extends JobName>(
  backend: Backend,
  location: string,
  job: J,
  args: JobArguments<J>,
): Promise<JobResult<J>> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    thisFile,
    backend.module,
    location,
    job,
    JSON.stringify(args),
  ]);
  return JSON.parse(stdout);
}

if (process.argv[1] === thisFile) {
  const [module, location, job, args] = process.argv.slice(2) as [string, string, JobName, string];
  const { backend } = (await import(module)) as { backend: Backend };
  const { jobs } = await import('./jobs.ts');
  const store = await backend.openStore(location);
  const run = jobs[job] as (on: typeof store, args: unknown) => Promise<unknown>;
  process.stdout.write(JSON.stringify((await run(store, JSON.parse(args))) ?? null));
  await store.close();
}
