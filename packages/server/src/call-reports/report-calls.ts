import { contentAddressAttribute, type OtlpMetricsResult, pluginId, pluginIdAttribute } from '@tenon/protocol';
import type { ExtensionPointAccess } from '../auth/access.ts';
import type { CallReportRecord } from '../db/call-report-records.ts';
import type { PluginKey } from '../db/records.ts';
import type { Queries } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import type { RolledOutVersion } from './call-report-queries.ts';
import { haltIfExceeded } from './halt-if-exceeded.ts';
import { type ReportedCalls, readOtlp } from './read-otlp.ts';
import { slotOf } from './slots.ts';

/** The reports of a request that belong to a roll-out. */
interface RollOutReports {
  readonly rollOut: RolledOutVersion;
  readonly rows: readonly CallReportRecord[];
}

/**
 * Stores what a host reports about calls, and halts roll-outs whose limits are exceeded. Only reports about versions in an open roll-out, and
 * about the versions before them, are stored. The time of a report is when it arrives.
 *
 * @returns how many data points were not used
 */
export async function reportCalls(
  deps: Deps,
  access: ExtensionPointAccess,
  request: unknown,
): Promise<OtlpMetricsResult> {
  const { reported, rejected } = readOtlp(request);
  const known = new Set(
    (await findVersions(deps.store.read, access, reported)).map((one) => `${idOf(one)} ${one.contentAddress}`),
  );
  const used = reported.filter((calls) => {
    if (known.has(`${calls.pluginId} ${calls.contentAddress}`)) return true;
    const attributes = `"${pluginIdAttribute}" and "${contentAddressAttribute}"`;
    rejected.add(
      calls.dataPoints,
      `${attributes} must name a version at this extension point (got ${calls.pluginId.slice(0, 200)})`,
    );
    return false;
  });
  await storeReports(deps, access, used);
  if (rejected.count === 0) return {};
  return { partialSuccess: { rejectedDataPoints: String(rejected.count), errorMessage: rejected.message } };
}

const idOf = ({ extensionPointId, userId, name }: PluginKey): string => pluginId(extensionPointId, userId, name);

async function findVersions(
  read: Queries,
  { app, extensionPoint }: ExtensionPointAccess,
  reported: readonly ReportedCalls[],
) {
  const addresses = [...new Set(reported.map(({ contentAddress }) => contentAddress))];
  return addresses.length === 0 ? [] : read.versionsOfContents(app.id, extensionPoint.id, addresses);
}

async function storeReports(
  deps: Deps,
  access: ExtensionPointAccess,
  reported: readonly ReportedCalls[],
): Promise<void> {
  const { store, clock } = deps;
  const find = () => findRollOuts(store.read, access, reported, clock());
  const found = await find();
  if (found.length === 0) return;
  try {
    await store.writeLocking((tx) => tx.addCallReports(found.flatMap(({ rows }) => rows)));
  } catch (error) {
    // A version may have been deleted meanwhile.
    const remaining = await find();
    if (remaining.length === found.length) throw error;
    await store.writeLocking((tx) => tx.addCallReports(remaining.flatMap(({ rows }) => rows)));
  }
  for (const { rollOut } of found) await haltIfExceeded(deps, rollOut);
}

/** Finds the open roll-outs that reports belong to. */
async function findRollOuts(
  read: Queries,
  { extensionPoint }: ExtensionPointAccess,
  reported: readonly ReportedCalls[],
  nowMs: number,
): Promise<RollOutReports[]> {
  const byPlugin = Map.groupBy(reported, (calls) => calls.pluginId);
  const names = new Set([...byPlugin.keys()].map((id) => id.slice(id.lastIndexOf('/') + 1)));
  if (names.size === 0) return [];
  const found: RollOutReports[] = [];
  for (const rollOut of await read.rollOutsToReport(extensionPoint.id, [...names])) {
    const calls = byPlugin.get(idOf(rollOut)) ?? [];
    if (calls.length === 0) continue;
    const previous = await read.versionBefore(rollOut, rollOut.number);
    const rows = [
      ...rowsOf(
        rollOut,
        'version',
        calls.find((one) => one.contentAddress === rollOut.contentAddress),
        nowMs,
      ),
      ...rowsOf(
        rollOut,
        'previous',
        calls.find((one) => one.contentAddress === previous?.contentAddress),
        nowMs,
      ),
    ];
    if (rows.length > 0) found.push({ rollOut, rows });
  }
  return found;
}

function rowsOf(
  { versionId, stepAtMs, createdAtMs }: RolledOutVersion,
  series: CallReportRecord['series'],
  reported: ReportedCalls | undefined,
  nowMs: number,
): readonly CallReportRecord[] {
  if (reported === undefined) return [];
  const { calls, errors, durations, memoryBytes } = reported;
  const row = { versionId, series, calls, errors, durations, memoryBytes };
  return [
    { ...row, kind: 'step', fromMs: stepAtMs },
    { ...row, kind: 'slot', fromMs: slotOf(nowMs, createdAtMs) },
  ];
}
