import {
  type SimulationRun,
  simulationRun,
  type Verdict,
  type Version,
  version as versionSchema,
} from '@tenon/protocol';
import { CliError } from '../errors.ts';
import { showStep } from '../progress.ts';
import type { Session } from '../session.ts';
import { formatSimulation } from '../testing/show-report.ts';
import { exitCodeOfVerdict, verdictInWords } from '../testing/test-run.ts';
import { createStyle, hasColours, printable, shellWord } from '../text.ts';
import type { PluginPlace } from './plugin-reference.ts';

type PlaceInSession = Pick<Session, 'api' | 'io' | 'out' | 'signal'>;

/** What a version is tested as, or has been: enough to tell whether it may be bound. */
type Tested = Pick<Version, 'number' | 'state' | 'stateReason' | 'verdict'>;

const firstPollMs = 500;
const maxPollMs = 5000;

/** Waits until the server has a verdict on a version. It returns `errored` too, although the server tries again. */
export function awaitVerdict(session: PlaceInSession, place: string, number: number): Promise<Version> {
  return poll(session, number, async () => {
    const version = await session.api.get(`${place}/versions/${number}`, versionSchema);
    return version.state !== 'testing' || version.verdict === 'errored' ? version : undefined;
  });
}

/** Waits until a run has a verdict, as {@link awaitVerdict}. */
export async function awaitRun(
  session: PlaceInSession,
  place: string,
  number: number,
  started: SimulationRun,
): Promise<SimulationRun> {
  if (started.verdict !== null) return started;
  return poll(session, number, async () => {
    const run = (await fetchRuns(session, place, number)).find(({ id }) => id === started.id);
    return run?.verdict === null ? undefined : (run ?? started);
  });
}

async function poll<T>(
  { io, out, signal }: PlaceInSession,
  number: number,
  read: () => Promise<T | undefined>,
): Promise<T> {
  const hide = showStep(io, !out.isJson, `Waiting for the simulations of version ${number} …`);
  try {
    for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 1.5, maxPollMs)) {
      const found = await read();
      if (found !== undefined) return found;
      await io.sleep(pollMs, signal);
    }
  } finally {
    hide();
  }
}

export function fetchRuns({ api }: Pick<Session, 'api'>, place: string, number: number): Promise<SimulationRun[]> {
  return api.list(`${place}/versions/${number}/simulation-runs`, simulationRun);
}

/**
 * Shows on stderr which simulations a version failed, and throws unless it passed.
 *
 * @throws CliError with the exit code of the verdict
 */
export async function assertVerdict(session: PlaceInSession, place: PluginPlace, version: Tested): Promise<void> {
  const { number, state, verdict } = version;
  const fails = state === 'failed' || (state === 'testing' && verdict === 'errored');
  if (!fails || verdict === null) return;
  const { io, out } = session;
  const [newest] = await fetchRuns(session, place.path, number);
  const style = createStyle(hasColours(io.stderr, io.environment));
  for (const report of newest?.simulations ?? []) {
    if (report.verdict !== 'passed') out.note(formatSimulation(report, style).trimEnd());
  }
  throw verdictError(place.name, number, verdict, newest?.detail ?? null, place);
}

function verdictError(
  name: string,
  number: number,
  verdict: Verdict,
  detail: string | null,
  { extensionPoint, user }: PluginPlace,
): CliError {
  const why = detail === null ? '' : ` ${printable(detail)}`;
  const reference = shellWord(`${extensionPoint}/plugin/${user}/${name}@${number}`);
  const isErrored = verdict === 'errored';
  const what = isErrored ? 'could not be tested' : verdict === 'timed_out' ? 'exceeded the time limit' : 'failed';
  return new CliError(`simulation_${verdict}`, `Version ${number} of ${name} ${what}: hosts don't get it.${why}`, {
    exitCode: exitCodeOfVerdict[verdict],
    hint: isErrored
      ? `The server tries again. To see the result: tenon plugin runs ${reference}`
      : 'To run the same on this machine: tenon plugin test --simulations',
  });
}

/** The verdict of a version, for lists. */
export function verdictCell({ verdict }: Pick<Version, 'verdict'>): string {
  return verdict === null || verdict === 'none_configured' ? '-' : verdictInWords(verdict);
}
