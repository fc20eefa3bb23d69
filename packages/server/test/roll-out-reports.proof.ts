import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { JsonMetricsSerializer } from '@opentelemetry/otlp-transformer';
import { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import type { CallReports, OtlpMetricsResult, RollOut, RollOutHalt, RollOutPlan, TokenCreated } from '@tenon/protocol';
import { purgeCallReports } from '../src/call-reports/purge-call-reports.ts';
import type { Config } from '../src/config/config.ts';
import { advanceRollOuts } from '../src/plugins/roll-outs/advance.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { noPostgres, type PostgresServer, startPostgres } from './helpers/postgres.ts';
import { addressOf } from './helpers/records.ts';
import { type ObjectStore, startObjectStore } from './helpers/s3.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { makeApp, ok, tinyModule } from './helpers/world.ts';

const dayMs = 24 * 60 * 60_000;
const halt: RollOutHalt = { minCalls: 20, errorRate: 0.02, p95Ratio: 1.5, memoryRatio: 1.5 };
const plan: RollOutPlan = {
  steps: [
    { percent: 50, holdSeconds: 60 },
    { percent: 100, holdSeconds: 60 },
  ],
  halt,
};

/** Calls of a version, as a host would report them. */
interface Calls {
  readonly address: string;
  readonly calls?: number;
  readonly errors?: number;
  readonly seconds?: number;
  readonly memoryBytes?: number;
  readonly pluginId?: string;
}

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });

/** An OTLP request with the calls of some versions. */
function metricsOf(all: readonly (Calls & { readonly pluginId: string })[]) {
  const dataPoints = all.flatMap(({ pluginId, address, calls = 0, errors = 0, seconds = 0.01 }) => {
    const attributes = [attribute('tenon.plugin.id', pluginId), attribute('tenon.plugin.content_address', address)];
    const failed = [...attributes, attribute('error.type', 'RuntimeError')];
    const point = (count: number) => ({
      count: String(count),
      explicitBounds: [seconds],
      bucketCounts: [String(count), '0'],
    });
    return [
      { ...point(calls - errors), attributes },
      { ...point(errors), attributes: failed },
    ];
  });
  const name = 'tenon.plugin.call.duration';
  const metrics = [{ name, unit: 's', histogram: { aggregationTemporality: 1, dataPoints } }];
  return { resourceMetrics: [{ scopeMetrics: [{ metrics }] }] };
}

/** An application whose plugin has two versions, the second in a roll-out. */
class Stage {
  readonly workshop: Workshop;
  readonly service: TestService;
  addresses: readonly string[] = [];

  constructor(service: TestService, workshop: Workshop) {
    this.service = service;
    this.workshop = workshop;
  }

  static async open(service: TestService, second = tinyModule(2)): Promise<Stage> {
    const workshop = await openWorkshop(service);
    const stage = new Stage(service, workshop);
    await workshop.settings({ rollOut: plan });
    await workshop.publish(1);
    const { publisher } = workshop;
    const headers = { 'content-type': 'application/wasm' };
    await ok(service, 'PUT', workshop.path(), { token: publisher.token, body: second, headers });
    const versions = await workshop.versions();
    stage.addresses = versions.toReversed().map(({ contentAddress }) => contentAddress);
    assert.equal((await stage.rollOut()).state, 'running');
    return stage;
  }

  get pluginId(): string {
    return `${this.workshop.extensionPointId}/plugin/${this.workshop.publisher.id}/median`;
  }

  get path(): string {
    return `/api/v1/extension-points/${this.workshop.extensionPointId}/otlp/v1/metrics`;
  }

  get old(): string {
    return this.addresses[0] ?? '';
  }

  get new(): string {
    return this.addresses[1] ?? '';
  }

  rollOut = (): Promise<RollOut> => this.#read('');
  reports = (): Promise<CallReports> => this.#read('/reports');

  #read<T>(below: string): Promise<T> {
    const { token } = this.workshop.viewer;
    return ok<T>(this.service, 'GET', `${this.workshop.path()}/versions/2/roll-out${below}`, { token });
  }

  report(all: readonly Calls[], node = this.service): Promise<OtlpMetricsResult> {
    const json = metricsOf(all.map((one) => ({ pluginId: this.pluginId, ...one })));
    return ok(node, 'POST', this.path, { token: this.workshop.viewer.token, json });
  }
}

describe('reports of hosts', () => {
  let service: TestService;
  let url: string;

  before(async () => {
    service = await openService();
    url = await service.listen();
  });
  after(() => service.close());

  const advance = async (ms: number): Promise<void> => {
    service.advance(ms);
    await advanceRollOuts(service.services.deps);
  };

  /** The metrics of OpenTelemetry's SDK, sent as its exporter for `http/json` does. */
  function openMeter(stage: Stage) {
    const results: ReturnType<typeof JsonMetricsSerializer.deserializeResponse>[] = [];
    const reader = new PeriodicExportingMetricReader({
      exportIntervalMillis: 60_000,
      exporter: {
        export(metrics, callback) {
          const body = JsonMetricsSerializer.serializeRequest(metrics) as Uint8Array<ArrayBuffer>;
          const headers = {
            authorization: `Bearer ${stage.workshop.viewer.token}`,
            'content-type': 'application/json',
            'content-encoding': 'gzip',
          };
          fetch(url + stage.path, { method: 'POST', headers, body: gzipSync(body) })
            .then(async (response) => {
              const bytes = new Uint8Array(await response.arrayBuffer());
              results.push(JsonMetricsSerializer.deserializeResponse(bytes));
              callback({ code: response.ok ? 0 : 1 });
            })
            .catch((error) => callback({ code: 1, error }));
        },
        selectAggregationTemporality: () => AggregationTemporality.DELTA,
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    });
    const provider = new MeterProvider({ readers: [reader] });
    const meter = provider.getMeter('host');
    const advice = { explicitBucketBoundaries: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1] };
    const durations = meter.createHistogram('tenon.plugin.call.duration', { unit: 's', advice });
    const memory = meter.createGauge('tenon.plugin.memory', { unit: 'By' });
    return {
      results,
      record({ address, calls = 0, errors = 0, seconds = 0.01, memoryBytes }: Calls): void {
        const attributes = { 'tenon.plugin.id': stage.pluginId, 'tenon.plugin.content_address': address };
        for (let call = 0; call < calls; call++) {
          durations.record(seconds, call < errors ? { ...attributes, 'error.type': 'trap' } : attributes);
        }
        if (memoryBytes !== undefined) memory.record(memoryBytes, attributes);
      },
      flush: () => provider.forceFlush(),
      close: () => provider.shutdown(),
    };
  }

  const faults: readonly (readonly [what: string, calls: Partial<Calls>, reason: RegExp])[] = [
    ['fails', { calls: 40, errors: 10 }, /25 % of 40 calls failed/],
    ['is slower', { calls: 40, seconds: 0.09 }, /95 % of the calls took up to/],
    ['needs more memory', { calls: 40, memoryBytes: 2 ** 21 }, /the memory grew to 2 MiB \(1 MiB before/],
  ];
  for (const [what, calls, reason] of faults) {
    it(`halt the roll-out of a version that ${what}, and all guests are back`, async () => {
      const stage = await Stage.open(service);
      const meter = openMeter(stage);
      meter.record({ address: stage.old, calls: 100, errors: 1, memoryBytes: 2 ** 20 });
      meter.record({ address: stage.new, calls: 19, errors: 0, memoryBytes: 2 ** 20 });
      await meter.flush();
      assert.equal((await stage.rollOut()).state, 'running');
      meter.record({ address: stage.new, ...calls });
      await meter.flush();
      const { state, ...halted } = await stage.rollOut();
      assert.equal(state, 'halted', JSON.stringify(await stage.reports()));
      assert.match(halted.reason ?? '', reason.source.startsWith('25') ? /of 59 calls failed/ : reason);
      for (const key of ['first', 'second'] as const) {
        assert.equal((await stage.workshop.list(key)).median?.contentAddress, stage.old);
      }
      const { owner, appId } = stage.workshop;
      const trail = await ok<{ objects: { action: string }[] }>(service, 'GET', `/api/v1/apps/${appId}/audit`, {
        token: owner.token,
      });
      assert.equal(trail.objects.filter(({ action }) => action === 'roll_out.halt').length, 1);
      meter.record({ address: stage.new, calls: 40, errors: 40 });
      await meter.flush(); // changes nothing
      await meter.close();
      assert.ok(
        meter.results.every(({ partialSuccess }) => partialSuccess === undefined),
        JSON.stringify(meter.results),
      );
    });
  }

  it('let a healthy version advance, and hold a step without enough reports', async () => {
    const stage = await Stage.open(service);
    await advance(61_000);
    assert.deepEqual((await stage.rollOut()).waitsForReports, { calls: 0, minCalls: 20 });
    await stage.report([{ address: stage.new, calls: 19 }]);
    await advance(61_000);
    const { step, waitsForReports } = await stage.rollOut();
    assert.deepEqual([step, waitsForReports], [0, { calls: 19, minCalls: 20 }]);
    await stage.report([
      { address: stage.new, calls: 1 },
      { address: stage.old, calls: 30, errors: 3 },
    ]);
    await advance(61_000);
    assert.equal((await stage.rollOut()).step, 1);
    // The next step begins without reports.
    const { version, previous } = await stage.reports();
    assert.deepEqual([version.totals.calls, previous?.totals.calls], [0, 0]);
    assert.deepEqual([version.version, previous?.version], [2, 1]);
    assert.equal(
      version.points.reduce((sum, { calls }) => sum + calls, 0),
      20,
    );
    assert.equal(
      previous?.points.reduce((sum, { errors }) => sum + errors, 0),
      3,
    );
    await stage.report([{ address: stage.new, calls: 20 }]);
    await advance(61_000);
    assert.equal((await stage.rollOut()).state, 'completed');
  });

  it('compare the last step with the calls that the version before had in earlier steps', async () => {
    const stage = await Stage.open(service);
    await stage.report([
      { address: stage.old, calls: 40, errors: 4 },
      { address: stage.new, calls: 40, errors: 4 },
    ]);
    await advance(61_000);
    assert.equal((await stage.rollOut()).step, 1);
    await stage.report([{ address: stage.new, calls: 40, errors: 4 }]);
    assert.equal((await stage.rollOut()).state, 'running');
    await stage.report([{ address: stage.new, calls: 40, errors: 20 }]);
    assert.equal((await stage.rollOut()).state, 'halted');
  });

  it('do not halt a resumed roll-out because of what was reported before', async () => {
    const stage = await Stage.open(service);
    await stage.report([{ address: stage.new, calls: 20, errors: 20 }]);
    assert.equal((await stage.rollOut()).state, 'halted');
    service.advance(1000);
    const path = `${stage.workshop.path()}/versions/2/roll-out/resume`;
    await ok(service, 'POST', path, { token: stage.workshop.owner.token });
    await stage.report([{ address: stage.new, calls: 20 }]);
    assert.equal((await stage.rollOut()).state, 'running');
  });

  it('are refused from guests, strangers, and restricted tokens', async () => {
    const stage = await Stage.open(service);
    const { publisher, viewer, owner, extensionPointId, appId } = stage.workshop;
    const stranger = await service.user('Stan');
    const otherApp = await makeApp(service, viewer);
    const json = metricsOf([{ pluginId: stage.pluginId, address: stage.new, calls: 40, errors: 40 }]);
    const restricted = { name: 'CI', scopes: ['read', 'publish'], plugin: { extensionPointId, name: 'median' } };
    const ci = await ok<TokenCreated>(service, 'POST', '/api/v1/tokens', { token: publisher.token, json: restricted });
    const elsewhere = await service.token(viewer.id, { appId: otherApp });
    const paths = { POST: stage.path, GET: `${stage.workshop.path()}/versions/2/roll-out/reports` };
    for (const [token, status, code] of [
      [publisher.token, 403, 'forbidden'],
      [ci.token, 403, 'forbidden'],
      [stranger.token, 404, 'not_found'],
      [elsewhere, 404, 'not_found'],
    ] as const) {
      for (const method of ['POST', 'GET'] as const) {
        const response = await service.call(method, paths[method], { token, ...(method === 'POST' && { json }) });
        assertProblem(response, status, code);
      }
    }
    assert.equal((await stage.rollOut()).state, 'running');
    const hostToken = await service.token(owner.id, { scopes: ['read'], appId });
    assert.equal((await service.call('POST', stage.path, { token: hostToken, json })).statusCode, 200);
    assert.equal((await stage.rollOut()).state, 'halted');
  });

  it('name what is not used, alike for versions elsewhere and for those that do not exist', async () => {
    const stage = await Stage.open(service);
    const other = await Stage.open(service, tinyModule(77));
    const answers = [
      await stage.report([{ address: other.new, calls: 1 }]),
      await stage.report([{ address: addressOf('nothing'), calls: 1 }]),
      await stage.report([{ pluginId: other.pluginId, address: other.new, calls: 1 }]),
      await stage.report([{ pluginId: '../../x', address: stage.new, calls: 1 }]),
    ];
    for (const { partialSuccess } of answers) {
      assert.equal(partialSuccess?.rejectedDataPoints, '2');
      assert.match(partialSuccess?.errorMessage ?? '', /must name a version at this extension point/);
    }
    assert.equal((await other.reports()).version.totals.calls, 0);
    assert.equal((await stage.reports()).version.totals.calls, 0);
  });

  it('refuse hostile bodies', async () => {
    const stage = await Stage.open(service);
    const json = { 'content-type': 'application/json' };
    const gzip = { ...json, 'content-encoding': 'gzip' };
    const deep = `{"resourceMetrics":[{"a":${'['.repeat(100)}${']'.repeat(100)}}]}`;
    const cases: readonly (readonly [
      what: string,
      headers: Record<string, string>,
      body: string | Buffer,
      code: string,
    ])[] = [
      ['protobuf', { 'content-type': 'application/x-protobuf' }, Buffer.from([10, 0]), 'unsupported_media_type'],
      ['text', { 'content-type': 'text/plain' }, '{}', 'unsupported_media_type'],
      ['brotli', { ...json, 'content-encoding': 'br' }, '{}', 'unsupported_media_type'],
      ['what is no gzip', gzip, '{"resourceMetrics":[]}', 'malformed_json'],
      ['a truncated gzip', gzip, gzipSync('{"resourceMetrics":[]}').subarray(0, 20), 'malformed_json'],
      ['a gzip bomb', gzip, gzipSync(Buffer.alloc(200 * 2 ** 20, ' ')), 'payload_too_large'],
      ['a large body', json, Buffer.alloc(2 ** 20 + 1, ' '), 'payload_too_large'],
      ['many values', json, `{"resourceMetrics":[${'{},'.repeat(210_000)}{}]}`, 'payload_too_large'],
      ['deep nesting', json, deep, 'malformed_json'],
      ['NaN', json, '{"resourceMetrics":[NaN]}', 'malformed_json'],
      ['a list', json, '[]', 'invalid_field'],
      ['no list', json, '{"resourceMetrics":{}}', 'invalid_field'],
    ];
    for (const [what, headers, body, code] of cases) {
      const response = await service.call('POST', stage.path, { token: stage.workshop.viewer.token, headers, body });
      assert.equal(response.json().code, code, what);
      if (what === 'protobuf') assert.match(response.json().detail, /"encoding: json"/);
    }
    const calls = JSON.stringify(metricsOf([{ pluginId: stage.pluginId, address: stage.new, calls: 5 }]));
    const token = stage.workshop.viewer.token;
    await ok(service, 'POST', stage.path, { token, headers: gzip, body: gzipSync(calls) });
    assert.equal((await stage.reports()).version.totals.calls, 5);
  });

  it('are deleted 30 days after the end of the roll-out, and with the plugin', async () => {
    const stage = await Stage.open(service);
    await stage.report([{ address: stage.new, calls: 20 }]);
    const promote = `${stage.workshop.path()}/versions/2/roll-out/promote`;
    const owner = { token: await service.token(stage.workshop.owner.id, { lifetimeMs: 100 * dayMs }) };
    const points = async () => {
      const path = `${stage.workshop.path()}/versions/2/roll-out/reports`;
      return (await ok<CallReports>(service, 'GET', path, owner)).version.points.length;
    };
    await ok(service, 'POST', promote, { ...owner, json: { full: true } });
    service.advance(29 * dayMs);
    await purgeCallReports(service.services.deps);
    assert.equal(await points(), 1);
    service.advance(2 * dayMs);
    await purgeCallReports(service.services.deps);
    assert.equal(await points(), 0);
    service.advance(-31 * dayMs);
    const deleted = await Stage.open(service);
    await deleted.report([{ address: deleted.new, calls: 20 }]);
    assert.equal((await deleted.workshop.call('DELETE', '')).statusCode, 204);
    assert.equal((await deleted.report([{ address: deleted.new, calls: 1 }])).partialSuccess?.rejectedDataPoints, '2');
  });

  it('count as changes of the token, whose rate is limited', async () => {
    const limited = await openService({ config: { writesPerSecond: 1, writeBurst: 20 } });
    try {
      const stage = await Stage.open(limited);
      const token = await limited.token(stage.workshop.viewer.id);
      const statuses: number[] = [];
      for (let report = 0; report < 25; report++) {
        statuses.push((await limited.call('POST', stage.path, { token, json: {} })).statusCode);
      }
      assert.ok(statuses.includes(429) && statuses[0] === 200, statuses.join(' '));
    } finally {
      await limited.close();
    }
  });
});

describe('reports of hosts to two nodes on one PostgreSQL', { skip: noPostgres }, () => {
  let postgres: PostgresServer;
  let objects: ObjectStore;
  let nodes: readonly TestService[];

  before(async () => {
    [postgres, objects] = await Promise.all([startPostgres(), startObjectStore(['plugins'])]);
    const { bucket, endpoint, credentials } = objects.options('plugins');
    const config: Partial<Config> = {
      databaseUrl: (await postgres.createDatabase()).url,
      databaseConnections: 4,
      s3Bucket: bucket,
      s3Endpoint: endpoint,
      s3AccessKeyId: credentials?.accessKeyId,
      s3SecretAccessKey: credentials?.secretAccessKey,
    };
    nodes = await Promise.all([openService({ config }), openService({ config })]);
  });
  after(async () => {
    await Promise.allSettled(nodes.map((node) => node.close()));
    postgres.stop();
    await objects.stop();
  });

  it('are added up without a loss when they come at the same time, and halt once', async () => {
    const [here, there] = nodes;
    assert.ok(here && there);
    const stage = await Stage.open(here);
    const rounds = 40;
    const seconds = [0.001, 0.01, 0.1];
    await Promise.all(
      Array.from({ length: rounds }, (_, at) =>
        stage.report(
          [
            { address: stage.new, calls: 3, seconds: seconds[at % 3] ?? 1 },
            { address: stage.old, calls: 2, errors: 1, seconds: seconds[at % 3] ?? 1 },
          ],
          at % 2 === 0 ? here : there,
        ),
      ),
    );
    const { version, previous } = await stage.reports();
    assert.deepEqual([version.totals.calls, version.totals.errors], [3 * rounds, 0]);
    assert.deepEqual([previous?.totals.calls, previous?.totals.errors], [2 * rounds, rounds]);
    // The durations are merged in a second statement.
    const stored = await here.store.read.stepReports(
      (await stage.rollOut()).versionId as never,
      Date.parse((await stage.reports()).stepAt),
    );
    for (const { calls, durations } of stored) {
      assert.equal(
        Object.values(durations).reduce((sum, count) => sum + count, 0),
        calls,
      );
    }
    assert.equal(stored.length, 2);
    await Promise.all(
      nodes.flatMap((node) =>
        Array.from({ length: 5 }, () => stage.report([{ address: stage.new, calls: 40, errors: 40 }], node)),
      ),
    );
    assert.equal((await stage.rollOut()).state, 'halted');
    const { owner, appId } = stage.workshop;
    const token = { token: owner.token };
    const trail = await ok<{ objects: { action: string }[] }>(here, 'GET', `/api/v1/apps/${appId}/audit`, token);
    assert.equal(trail.objects.filter(({ action }) => action === 'roll_out.halt').length, 1);
  });
});
