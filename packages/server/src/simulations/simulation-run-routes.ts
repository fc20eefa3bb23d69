import { type SimulationReport, type SimulationRun, simulationRun } from '@tenon/protocol';
import type { SimulationRunRecord } from '../db/simulation-run-records.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import { simulationRunExample } from '../http/simulation-examples.ts';
import { time } from '../http/wire-time.ts';
import { artifactPath, pluginTarget } from '../plugins/plugin-routes.ts';
import { listRuns, retestVersion } from './retest.ts';

const route = routeTagged('Versions');
const path = `${artifactPath}/versions/:number/simulation-runs` as const;

export const simulationRunRoutes: readonly Route[] = [
  route('GET', path, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    id: 'listSimulationRuns',
    summary: 'List the last tests of a version, the newest first',
    description: "For the plugin's publisher and the application's members. At most six.",
    responses: { 200: jsonList('the tests', simulationRun, simulationRunExample) },
    handle: async ({ deps }, { auth, params }) => {
      const found = await listRuns(deps, auth.access, pluginTarget(params), params.number);
      return { objects: found.map(toSimulationRun) };
    },
  }),
  route('POST', path, {
    access: { kind: 'extensionPoint', purpose: 'changePlugins' },
    id: 'retestVersion',
    summary: 'Test a version again',
    description:
      "For the plugin's publisher and the application's team. A failed version is published if it passes, and one that " +
      'awaits approval fails if it does not. In every other state, the result is only shown. The response comes when the test has ended, or after 2 seconds.',
    responses: { 200: json('the test', simulationRun, simulationRunExample) },
    errors: ['conflict', 'plugin_blocked', 'rate_limited'],
    handle: async ({ deps }, { auth, params }) =>
      toSimulationRun(await retestVersion(deps, auth.access, pluginTarget(params), params.number)),
  }),
];

function toSimulationRun(run: SimulationRunRecord): SimulationRun {
  const { id, state, verdict, detail, attempts, dueAtMs, startedAtMs, reportsJson } = run;
  return {
    id,
    state,
    verdict,
    detail,
    attempts,
    nextAttemptAt: state === 'queued' ? time(dueAtMs) : null,
    simulations: JSON.parse(reportsJson) as SimulationReport[],
    startedAt: startedAtMs === null ? null : time(startedAtMs),
    endedAt: state === 'done' ? time(dueAtMs) : null,
  };
}
