import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { tenon, withoutTenon } from './server.ts';

export interface ConformanceResult {
  readonly name: string;
  readonly result: 'passed' | 'failed' | 'skipped';
  readonly reason: string | null;
  readonly stderr: string | null;
}

/** Runs `tenon client-conformance` on a client. */
export async function casesOf(
  command: readonly string[],
  options: readonly string[] = [],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<readonly ConformanceResult[]> {
  const args = [tenon, 'client-conformance', '--json', ...options, '--', ...command];
  const child = spawn(process.execPath, args, { env: withoutTenon(environment), stdio: ['ignore', 'pipe', 'inherit'] });
  const [stdout] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const { cases } = JSON.parse(stdout) as { cases: readonly ConformanceResult[] };
  return cases;
}
