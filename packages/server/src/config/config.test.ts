import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { describe, it } from 'node:test';
import { ConfigError, loadConfig } from './config.ts';
import { settings } from './settings.ts';

const MiB = 2 ** 20;
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

/** The faults of an environment, and flags. */
function faultsOf(environment: Readonly<Record<string, string>>, flags: Parameters<typeof loadConfig>[0] = {}) {
  try {
    loadConfig(flags, environment);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.faults;
  }
  return [];
}

describe('loadConfig()', () => {
  it('has a default for every setting', () => {
    const config = loadConfig({}, {});
    for (const [name, setting] of Object.entries(settings)) {
      assert.deepEqual(config[name as keyof typeof settings], setting.default, name);
    }
    assert.equal(config.demo, undefined);
    assert.ok(Object.isFrozen(config));
  });

  it('reads variables and their items; flags take precedence', () => {
    const environment = {
      TENON_PORT: '1234',
      TENON_HOST: '0.0.0.0',
      TENON_LIMITS: 'module-bytes=2 MiB, connections = 5 ,',
      TENON_TIMES: 'keep-alive=1.5s,audit=90d,gc-interval=500ms',
      TENON_RATES: '',
    };
    const config = loadConfig({ port: '99', demo: true }, environment);
    assert.equal(config.port, 99);
    assert.equal(config.host, '0.0.0.0');
    assert.deepEqual([config.maxModuleBytes, config.maxConnections], [2 * MiB, 5]);
    assert.equal(config.maxJsonBytes, MiB / 4);
    assert.deepEqual([config.keepAliveTimeoutMs, config.collectIntervalMs], [1500, 500]);
    assert.equal(config.auditRetentionMs, 90 * 24 * 3600 * 1000);
    assert.equal(config.demo, true);
  });

  it('treats an empty variable as unset', () => {
    assert.equal(loadConfig({}, { TENON_PORT: '' }).port, 8366);
  });

  it('removes trailing slashes from URLs', () => {
    const { publicUrl } = loadConfig({}, { TENON_PUBLIC_URL: 'https://Plugins.example/tenon/' });
    assert.equal(publicUrl, 'https://plugins.example/tenon');
    assert.equal(loadConfig({}, { TENON_PUBLIC_URL: 'https://plugins.example/' }).publicUrl, 'https://plugins.example');
  });

  it('reports all faults at once, by flag or variable', () => {
    const environment = {
      TENON_PORT: '70000',
      TENON_PUBLIC_URL: 'ftp://x',
      TENON_TRUSTED_PROXIES: '10.0.0.0/8, nonsense',
      TENON_ONLY: 'distribution',
      TENON_LIMITS: 'json-bytes=1e3',
      TENON_MODULE_WORKERS: '0',
      TENON_TIMES: 'header=15,drain=-1s,idle=0s',
    };
    const faults = faultsOf(environment, { logLevel: 'loud' });
    const items = ['TENON_LIMITS json-bytes', 'TENON_TIMES header', 'TENON_TIMES drain', 'TENON_TIMES idle'];
    const others = Object.keys(environment).filter((name) => !/LIMITS|TIMES/.test(name));
    for (const name of [...others, ...items, '--log-level']) {
      assert.equal(faults.filter((fault) => fault.startsWith(`${name} `)).length, 1, name);
    }
    assert.equal(faults.length, 10);
  });

  it('rejects unknown items of a list, and suggests the nearest name', () => {
    const [fault = '', ...others] = faultsOf({ TENON_TIMES: 'heeder=1s', TENON_LIMITS: 'header' });
    assert.match(fault, /^TENON_LIMITS has no "header"; it has module-bytes, json-bytes, /);
    assert.match(others[0] ?? '', /^TENON_TIMES has no "heeder"; did you mean header\?; it has header, body, /);
    assert.match(faultsOf({ TENON_TIMES: 'header' })[0] ?? '', /TENON_TIMES header must be a time such as 15s/);
  });

  it('resolves auto to one worker for each core', () => {
    assert.equal(loadConfig({}, { TENON_WORKERS: 'auto' }).workers, Math.min(256, availableParallelism()));
    assert.equal(loadConfig({ workers: '3' }, { TENON_WORKERS: 'auto' }).workers, 3);
    assert.equal(loadConfig({}, {}).workers, 1);
    for (const workers of ['0', '-1', '1.5', '257', 'all', ' ', ''])
      assert.throws(() => loadConfig({ workers }, {}), ConfigError, workers);
  });

  it('divides TENON_MEMORY_MB between bodies and caches, and requires enough for the largest module', () => {
    const { maxBodyMemoryBytes, responseCacheBytes, contentCacheBytes } = loadConfig({}, {});
    assert.deepEqual([maxBodyMemoryBytes, responseCacheBytes, contentCacheBytes], [512 * MiB, 128 * MiB, 128 * MiB]);
    assert.deepEqual(faultsOf({ TENON_MEMORY_MB: '97' }), [
      'TENON_MEMORY_MB must be at least 98 for the largest module and configuration, not 97',
    ]);
    assert.deepEqual(faultsOf({ TENON_MEMORY_MB: '98' }), []);
    assert.deepEqual(faultsOf({ TENON_MEMORY_MB: '1', TENON_LIMITS: 'module-bytes=64KiB,config-bytes=64KiB' }), []);
  });

  it('warns about unknown variables, and suggests the nearest name', () => {
    const environment = { TENON_PROT: '1', TENON_NONSENSE: '1', TENON_TOKEN: 'of the command line', OTHER: 'x' };
    assert.deepEqual(loadConfig({}, environment).warnings, [
      'TENON_NONSENSE is not a setting of this version',
      'TENON_PROT is not a setting of this version; did you mean TENON_PORT?',
    ]);
  });

  it('warns about PostgreSQL without an object store', () => {
    const database = { TENON_DATABASE_URL: 'postgresql://tenon:s3cret@db.internal/tenon' };
    const message = "TENON_DATABASE_URL is set without TENON_S3_BUCKET: several nodes must share the plugins' folder";
    assert.deepEqual(loadConfig({}, database).warnings, [`${message} tenon-data/blobs`]);
    assert.deepEqual(loadConfig({}, { ...database, TENON_S3_BUCKET: 'plugins' }).warnings, []);
  });
});

describe('loadConfig(), of OpenTelemetry’s variables', () => {
  const faulty = {
    ...endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=s3cret%0aa',
    OTEL_RESOURCE_ATTRIBUTES: 's3cret',
    OTEL_TRACES_SAMPLER_ARG: '1.1',
  };

  it('has an endpoint only if tracing is on', () => {
    assert.equal(loadConfig({}, endpoint).otelEndpoint, 'http://collector:4318');
    assert.equal(loadConfig({}, { ...endpoint, OTEL_SDK_DISABLED: 'false' }).otelEndpoint, 'http://collector:4318');
    for (const off of [{}, { ...endpoint, OTEL_SDK_DISABLED: 'True' }])
      assert.equal(loadConfig({}, off).otelEndpoint, undefined);
  });

  it('reports all faults at once, without secrets', () => {
    const faults = faultsOf({ ...faulty, OTEL_EXPORTER_OTLP_ENDPOINT: 'https://user:s3cret@collector' });
    assert.deepEqual(faults.map((fault) => fault.split(' ', 1)[0]).sort(), Object.keys(faulty).sort());
    assert.doesNotMatch(faults.join(), /s3cret/);
  });

  it('ignores the variables if tracing is off', () => {
    const unread = { ...faulty, OTEL_BSP_SCHEDULE_DELAY: '5' };
    assert.deepEqual(loadConfig({}, { ...unread, OTEL_SDK_DISABLED: 'true' }).warnings, []);
    assert.deepEqual(loadConfig({}, { ...unread, OTEL_EXPORTER_OTLP_ENDPOINT: '' }).warnings, []);
  });

  it('parses pairs by the OpenTelemetry specification', () => {
    const { otelHeaders, otelResourceAttributes } = loadConfig(
      {},
      {
        ...endpoint,
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi, x-scope = a=b ,',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=produ%63tion,empty=',
      },
    );
    assert.deepEqual(otelHeaders, { authorization: 'Basic YTpi', 'x-scope': 'a=b' });
    assert.deepEqual(otelResourceAttributes, { 'deployment.environment.name': 'production', empty: '' });
  });

  it('warns about unknown variables for tracing', () => {
    const others = { OTEL_TRACES_SAMPLER: 'always_off', OTEL_BSP_SCHEDULE_DELAY: '5', OTEL_METRICS_EXPORTER: 'none' };
    const { warnings } = loadConfig({}, { ...endpoint, ...others });
    assert.deepEqual(
      warnings.map((warning) => warning.split(' ', 1)[0]),
      ['OTEL_BSP_SCHEDULE_DELAY', 'OTEL_TRACES_SAMPLER'],
    );
  });
});
