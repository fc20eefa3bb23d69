import { hash } from 'node:crypto';
import { type ContentAddress, pluginId, type SimulationReport, type TestResult, type VersionId } from '@tenon/protocol';
import type { Actor, ExtensionPointAccess } from '../auth/access.ts';
import type { VersionRecord } from '../db/records.ts';
import type { SimulationRecord } from '../db/simulation-records.ts';
import type { SimulationRunRecord } from '../db/simulation-run-records.ts';
import type { Queries } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../http/domain-errors.ts';
import { findPlugin, findVersion, type PluginTarget } from '../plugins/plugins.ts';

/** The verdicts of a run that has tested the version. */
const finalVerdicts: readonly SimulationRunRecord['verdict'][] = ['passed', 'failed', 'timed_out'];

/**
 * Describes the newest run that has tested a version as an in-toto statement.
 *
 * @param baseUrl of the server
 * @throws DomainError `not_found`, also if no run has ended
 */
export async function readTestResult(
  { store: { read } }: Pick<Deps, 'store'>,
  actor: Actor,
  access: ExtensionPointAccess,
  target: PluginTarget,
  number: string,
  baseUrl: string,
): Promise<TestResult> {
  const version = await findVersion(read, await findPlugin(read, actor, access, target), number);
  const result = (await newestTestResults(read, [version], baseUrl)).get(version.id);
  if (result === undefined) throw notFound('test result');
  return result;
}

/** As {@link readTestResult}, for versions of one plugin that the actor may see. A version of which no run has ended has none. */
export async function newestTestResults(
  read: Pick<Queries, 'doneSimulationRuns' | 'simulations'>,
  versions: readonly VersionRecord[],
  baseUrl: string,
): Promise<ReadonlyMap<VersionId, TestResult>> {
  const results = new Map<VersionId, TestResult>();
  const runs = await read.doneSimulationRuns(versions.map(({ id }) => id));
  const [first] = versions;
  if (first === undefined || runs.length === 0) return results;
  const simulations = await read.simulations(first.extensionPointId);
  for (const version of versions) {
    const run = runs.find(({ versionId, verdict }) => versionId === version.id && finalVerdicts.includes(verdict));
    if (run === undefined) continue;
    const reports = JSON.parse(run.reportsJson) as SimulationReport[];
    results.set(version.id, toTestResult(version, run.verdict === 'passed', reports, simulations, baseUrl));
  }
  return results;
}

export function toTestResult(
  version: VersionRecord,
  hasPassed: boolean,
  reports: readonly SimulationReport[],
  simulations: readonly SimulationRecord[],
  baseUrl: string,
): TestResult {
  const { extensionPointId, userId, name, number, contentAddress } = version;
  const path = `/api/v1/artifacts/${pluginId(extensionPointId, userId, name)}/versions/${number}`;
  const namesOf = (passed: boolean) =>
    reports.filter(({ verdict }) => (verdict === 'passed') === passed).map((report) => report.name);
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: `${baseUrl}${path}/content`, digest: sha256Of(contentAddress) }],
    predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
    predicate: {
      result: hasPassed ? 'PASSED' : 'FAILED',
      configuration: reports.flatMap((report) => {
        const at = `${baseUrl}/api/v1/extension-points/${extensionPointId}/simulations/${report.name}`;
        const stored = simulations.find((one) => one.name === report.name && one.revision === report.revision);
        return describe(at, report, stored);
      }),
      url: `${baseUrl}${path}/simulation-runs`,
      passedTests: namesOf(true),
      warnedTests: [],
      failedTests: namesOf(false),
    },
  };
}

type Descriptor = TestResult['predicate']['configuration'][number];

/** Describes a simulation as it was run. Its digests are known while it has not changed since. */
function describe(
  at: string,
  { name, revision }: SimulationReport,
  stored: SimulationRecord | undefined,
): Descriptor[] {
  const annotations = { revision };
  if (stored === undefined) return [{ name, uri: at, annotations }];
  const { testModule, mockHost, mockInputBase64, fixturesJson } = stored;
  const part = (rest: string, digest: Descriptor['digest'] & {}, mediaType: string): Descriptor => ({
    name: `${name}/${rest}`,
    uri: at,
    digest,
    mediaType,
    annotations,
  });
  const module = (rest: string, address: ContentAddress | null): Descriptor[] =>
    address === null
      ? []
      : [{ ...part(rest, sha256Of(address), 'application/wasm'), downloadLocation: `${at}/${rest}` }];
  const text = (rest: string, bytes: Uint8Array | string | null, mediaType: string): Descriptor[] =>
    bytes === null ? [] : [part(rest, { sha256: hash('sha256', bytes, 'hex') }, mediaType)];
  return [
    ...module('test-module', testModule),
    ...module('mock-host', mockHost),
    ...text('mock-input', mockInputBase64 && Buffer.from(mockInputBase64, 'base64'), 'application/octet-stream'),
    ...text('fixtures', fixturesJson, 'application/json'),
  ];
}

function sha256Of(address: ContentAddress): { readonly sha256: string } {
  return { sha256: Buffer.from(address, 'base64url').toString('hex') };
}
