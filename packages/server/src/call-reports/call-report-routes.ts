import { callReports, otlpMetricsResult } from '@tenon/protocol';
import { example } from '../http/examples.ts';
import { json, type Route, routeTagged } from '../http/route.ts';
import { artifactPath, pluginTarget } from '../plugins/plugin-routes.ts';
import { otlpBody } from './otlp-body.ts';
import { readCallReports } from './read-call-reports.ts';
import { reportCalls } from './report-calls.ts';

const route = routeTagged('Roll-outs');

const totalsExample = { calls: 120, errors: 3, errorRate: 0.025, p95Seconds: 0.0081, memoryBytes: 1_310_720 };

const reportsExample = {
  stepAt: example.time,
  version: { version: 3, totals: totalsExample, points: [{ at: example.time, ...totalsExample }] },
  previous: null,
};

export const callReportRoutes: readonly Route[] = [
  route('POST', '/api/v1/extension-points/:extensionPointId/otlp/v1/metrics', {
    access: { kind: 'extensionPoint', purpose: 'readBindings' },
    body: otlpBody,
    id: 'reportCalls',
    summary: 'Report the calls of plugins: OTLP metrics in JSON',
    description:
      'For hosts, with any OpenTelemetry exporter. Stored are the calls of versions in a staged roll-out, and of the versions before them. ' +
      'The body may be compressed with gzip. `partialSuccess` says which data points are not used.',
    responses: { 200: json('the result', otlpMetricsResult, {}) },
    handle: ({ deps }, { auth, body }) => reportCalls(deps, auth.access, body),
  }),
  route('GET', `${artifactPath}/versions/:number/roll-out/reports`, {
    access: { kind: 'extensionPoint', purpose: 'readBindings' },
    id: 'readCallReports',
    summary: 'Read what hosts reported about a version in a staged roll-out, and about the version before',
    description: `For the application's team.`,
    responses: { 200: json('the reports', callReports, reportsExample) },
    handle: ({ deps }, { auth, params }) => readCallReports(deps, auth.access, pluginTarget(params), params.number),
  }),
];
