import type { SimulationReport, SimulationTrialInput, Verdict } from '@tenon/protocol';
import type { SimulationInputs } from '@tenon/run-kit/simulation';
import type { ExtensionPointAccess } from '../auth/access.ts';
import { DamagedContentError } from '../blobs/stored-contents.ts';
import type { BoundVersion } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import type { JobOptions } from '../plugins/module-checker.ts';
import { checkSimulation } from './check-simulation.ts';
import { draftInputs, type InputsRun, readInputs, readModule, runInputs } from './simulation-inputs.ts';
import { readSimulation } from './simulations.ts';

/** How many versions one request tries. */
const maxTriedVersions = 25;

/** After this time, a request tries no other version. */
const budgetMs = 10_000;

/** How long the simulations of one version may take together. */
const versionBudgetMs = 30_000;

/** After so much JSON, a request tries no other version. */
const maxReportsLength = 4 * 2 ** 20;

/** The name of a draft without one. */
const draftName = 'draft';

interface TrialResult {
  readonly verdict: Verdict;
  readonly detail: string | null;
  readonly reports: readonly SimulationReport[];
}

export interface SimulationTrialPage {
  readonly tried: readonly (TrialResult & { readonly version: BoundVersion })[];
  /** The `after` of the next page; `undefined` after the last one. */
  readonly next: string | undefined;
}

/**
 * Runs stored or draft simulations with bound versions, a page of them. It changes nothing.
 *
 * @param after the version after which the page begins
 * @throws DomainError `invalid_field`, `not_found` for an unknown simulation; HttpError `unavailable`; ClientDisconnected
 */
export async function trySimulations(
  deps: Deps,
  access: ExtensionPointAccess,
  input: SimulationTrialInput,
  after: string | undefined,
  jobOptions: JobOptions,
): Promise<SimulationTrialPage> {
  const { extensionPoint, actor } = access;
  const startedAtMs = performance.now();
  const schemaJson =
    input.schema === undefined
      ? extensionPoint.schemaJson
      : (await deps.checker.readSchema(input.schema, jobOptions)).schemaJson;
  const inputs = await inputsOf(deps, access, input, schemaJson, jobOptions);
  const bound = await deps.store.read.boundVersions(extensionPoint.id, { after, limit: maxTriedVersions + 1 });

  const resultsByAddress = new Map<string, TrialResult>();
  const tried: (TrialResult & { version: BoundVersion })[] = [];
  let length = 0;
  for (const version of bound.slice(0, maxTriedVersions)) {
    const isOver = performance.now() - startedAtMs > budgetMs || length > maxReportsLength;
    if (tried.length > 0 && isOver) break;
    const deadlineMs = performance.now() + versionBudgetMs;
    const run = { schemaJson, deadlineMs, fairnessKey: actor.userId, signal: jobOptions.signal };
    const known = resultsByAddress.get(version.contentAddress);
    const result = known ?? (await tryVersion(deps, version, inputs, run));
    resultsByAddress.set(version.contentAddress, result);
    tried.push({ version, ...result });
    length += JSON.stringify(result.reports).length;
  }
  return { tried, next: tried.length < bound.length ? tried.at(-1)?.version.id : undefined };
}

/** The simulations to run: the draft, the stored one with the name, or all. */
async function inputsOf(
  deps: Deps,
  access: ExtensionPointAccess,
  { name, simulation }: SimulationTrialInput,
  schemaJson: string,
  jobOptions: JobOptions,
): Promise<readonly SimulationInputs[]> {
  if (simulation !== undefined) {
    return [draftInputs(name ?? draftName, await checkSimulation(deps, schemaJson, simulation, jobOptions))];
  }
  const { read } = deps.store;
  const stored =
    name === undefined ? await read.simulations(access.extensionPoint.id) : [await readSimulation(read, access, name)];
  return readInputs(deps, stored);
}

async function tryVersion(
  deps: Deps,
  { contentAddress }: BoundVersion,
  inputs: readonly SimulationInputs[],
  run: InputsRun,
): Promise<TrialResult> {
  if (inputs.length === 0) return { verdict: 'none_configured', detail: null, reports: [] };
  let bytes: Uint8Array;
  try {
    bytes = await readModule(deps, contentAddress);
  } catch (error) {
    if (!(error instanceof DamagedContentError)) throw error;
    return { verdict: 'errored', detail: 'The bytes are missing or damaged.', reports: [] };
  }
  const reports = await runInputs(deps, bytes, inputs, run);
  const verdict = verdictOf(reports);
  const errored = reports.find((report) => report.verdict === 'errored');
  return { verdict, detail: verdict === 'errored' ? (errored?.detail ?? null) : null, reports };
}

/** A version that fails a simulation has failed, whatever happens in the others. */
const precedence = ['failed', 'timed_out', 'errored', 'passed'] as const;

function verdictOf(reports: readonly SimulationReport[]): Verdict {
  return precedence.find((one) => reports.some(({ verdict }) => verdict === one)) ?? 'none_configured';
}
