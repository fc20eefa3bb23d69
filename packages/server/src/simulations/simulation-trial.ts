import type { SimulationReport, SimulationTrialInput, Verdict } from '@tenon/protocol';
import type { ExtensionPointAccess } from '../auth/access.ts';
import { chargeSimulations } from '../auth/quotas.ts';
import { DamagedContentError } from '../blobs/stored-contents.ts';
import type { BoundVersion } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { TooManyAttemptsError } from '../http/domain-errors.ts';
import type { JobOptions } from '../plugins/module-checker.ts';
import { checkSimulation } from './check-simulation.ts';
import { verdictOf } from './run-simulations.ts';
import {
  draftSource,
  type Reserve,
  readModule,
  reserveFor,
  runSimulation,
  type SimulationRunOptions,
  type SimulationSource,
  storedSource,
  takeTurn,
} from './simulation-inputs.ts';
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
 * @throws DomainError `invalid_field`, `not_found` for an unknown simulation, `rate_limited`; HttpError `unavailable`; ClientDisconnected
 */
export async function trySimulations(
  deps: Deps,
  access: ExtensionPointAccess,
  input: SimulationTrialInput,
  after: string | undefined,
  reserve: Reserve,
  jobOptions: JobOptions,
): Promise<SimulationTrialPage> {
  const options = { fairnessKey: access.actor.userId, signal: jobOptions.signal };
  return takeTurn(deps, options, () => tryPage(deps, access, input, after, reserve, jobOptions));
}

async function tryPage(
  deps: Deps,
  access: ExtensionPointAccess,
  input: SimulationTrialInput,
  after: string | undefined,
  reserve: Reserve,
  jobOptions: JobOptions,
): Promise<SimulationTrialPage> {
  const { extensionPoint, actor } = access;
  const startedAtMs = performance.now();
  const schemaJson =
    input.schema === undefined
      ? extensionPoint.schemaJson
      : (await deps.checker.readSchema(input.schema, jobOptions)).schemaJson;
  const sources = await sourcesOf(deps, access, input, schemaJson, jobOptions);
  const bound = await deps.store.read.boundVersions(extensionPoint.id, { after, limit: maxTriedVersions + 1 });
  reserveFor(reserve, sources, Math.max(0, ...bound.map(({ size }) => size)));

  const resultsByAddress = new Map<string, TrialResult>();
  const tried: (TrialResult & { version: BoundVersion })[] = [];
  let length = 0;
  for (const version of bound.slice(0, maxTriedVersions)) {
    const isOver = performance.now() - startedAtMs > budgetMs || length > maxReportsLength;
    if (tried.length > 0 && isOver) break;
    const deadlineMs = performance.now() + versionBudgetMs;
    const run = { schemaJson, deadlineMs, fairnessKey: actor.userId, signal: jobOptions.signal };
    const known = resultsByAddress.get(version.contentAddress);
    if (known === undefined && !(await chargeTrial(deps, access, sources.length, tried.length === 0))) break;
    const result = known ?? (await tryVersion(deps, version, sources, run));
    resultsByAddress.set(version.contentAddress, result);
    tried.push({ version, ...result });
    length += JSON.stringify(result.reports).length;
  }
  return { tried, next: tried.length < bound.length ? tried.at(-1)?.version.id : undefined };
}

/**
 * Charges for the simulations of one version.
 *
 * @param isFirst whether the request has tried no version
 * @returns whether they may run. If not, the page ends before the version
 * @throws DomainError `rate_limited` for the first version
 */
async function chargeTrial(
  deps: Deps,
  { actor, app }: ExtensionPointAccess,
  count: number,
  isFirst: boolean,
): Promise<boolean> {
  try {
    const payers = { userId: actor.userId, appId: app.id };
    if (count > 0) await deps.store.write((tx) => chargeSimulations(deps, tx, payers, count));
    return true;
  } catch (error) {
    if (isFirst || !(error instanceof TooManyAttemptsError)) throw error;
    return false;
  }
}

/** The simulations to run: the draft, the stored one with the name, or all. */
async function sourcesOf(
  deps: Deps,
  access: ExtensionPointAccess,
  { name, simulation }: SimulationTrialInput,
  schemaJson: string,
  jobOptions: JobOptions,
): Promise<readonly SimulationSource[]> {
  if (simulation !== undefined) {
    return [draftSource(name ?? draftName, await checkSimulation(deps, schemaJson, simulation, jobOptions))];
  }
  const { read } = deps.store;
  const stored =
    name === undefined ? await read.simulations(access.extensionPoint.id) : [await readSimulation(read, access, name)];
  return stored.map((record) => storedSource(deps, record));
}

async function tryVersion(
  deps: Deps,
  { contentAddress }: BoundVersion,
  sources: readonly SimulationSource[],
  run: SimulationRunOptions,
): Promise<TrialResult> {
  if (sources.length === 0) return { verdict: 'none_configured', detail: null, reports: [] };
  let bytes: Uint8Array;
  try {
    bytes = await readModule(deps, contentAddress);
  } catch (error) {
    if (!(error instanceof DamagedContentError)) throw error;
    return { verdict: 'errored', detail: 'The bytes are missing or damaged.', reports: [] };
  }
  const reports: SimulationReport[] = [];
  for (const source of sources) reports.push(await runSimulation(deps, bytes, source, run));
  const verdict = verdictOf(reports);
  const errored = reports.find((report) => report.verdict === 'errored');
  return { verdict, detail: verdict === 'errored' ? (errored?.detail ?? null) : null, reports };
}
