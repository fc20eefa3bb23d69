import type { ConformanceCase } from './case.ts';
import type { ClientProcess } from './client-process.ts';
import type { ClientSetting } from './client-setting.ts';
import { Nonconformity } from './nonconformity.ts';
import { runOnStage } from './stage.ts';

export interface CaseResult {
  readonly name: string;
  readonly expected: string;
  readonly result: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped; `null` if it passed. */
  readonly reason: string | null;
  /** The end of the client's stderr, if it failed. */
  readonly stderr: string | null;
  readonly durationMs: number;
}

const maxStderrChars = 2_000;

/**
 * Runs cases. If the first fails, the others are skipped, because they would fail, too.
 *
 * @param onResult is called with each result, in the order of the cases
 * @throws CliError `command_not_started`
 */
export async function runCases(
  cases: readonly ConformanceCase[],
  setting: ClientSetting,
  signal: AbortSignal,
  onResult: (result: CaseResult) => void,
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  let shown = 0;
  const keep = (at: number, result: CaseResult) => {
    results[at] = result;
    for (let next = results[shown]; next !== undefined; next = results[++shown]) onResult(next);
  };
  const [first] = cases;
  if (first === undefined) return [];
  keep(0, await runCase(first, setting, signal));
  if (results[0]?.result === 'failed') {
    for (const [at, each] of cases.entries()) {
      if (at > 0) keep(at, skipped(each, whyLacking(each, setting) ?? `the case ${first.name} failed`));
    }
    return results;
  }
  const waiting = [...cases.entries()].slice(1).values();
  await Promise.all(
    Array.from({ length: setting.concurrency }, async () => {
      for (const [at, each] of waiting) keep(at, await runCase(each, setting, signal));
    }),
  );
  return results;
}

async function runCase(
  conformanceCase: ConformanceCase,
  setting: ClientSetting,
  signal: AbortSignal,
): Promise<CaseResult> {
  const { name, expected } = conformanceCase;
  const lacking = whyLacking(conformanceCase, setting);
  if (lacking !== undefined) return skipped(conformanceCase, lacking);
  const startMs = setting.io.nowMs();
  let client: ClientProcess | undefined;
  const result = (rest: Pick<CaseResult, 'result' | 'reason' | 'stderr'>): CaseResult => ({
    name,
    expected,
    ...rest,
    durationMs: Math.round(setting.io.nowMs() - startMs),
  });
  try {
    await runOnStage(conformanceCase, setting, signal, (started) => {
      client = started;
    });
    return result({ result: 'passed', reason: null, stderr: null });
  } catch (error) {
    if (!(error instanceof Nonconformity)) throw error;
    return result({ result: 'failed', reason: error.message, stderr: client?.stderr.slice(-maxStderrChars) ?? null });
  }
}

function whyLacking({ needs }: ConformanceCase, { without }: ClientSetting): string | undefined {
  return needs !== undefined && without.has(needs) ? `--without ${needs}` : undefined;
}

function skipped({ name, expected }: ConformanceCase, reason: string): CaseResult {
  return { name, expected, result: 'skipped', reason, stderr: null, durationMs: 0 };
}
