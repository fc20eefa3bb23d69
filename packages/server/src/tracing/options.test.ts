import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError, loadConfig } from '../config.ts';
import { isTracingOn } from './options.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('isTracingOn()', () => {
  for (const [environment, expected] of [
    [{}, false],
    [{ OTEL_SERVICE_NAME: 'tenon' }, false],
    [endpoint, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector/v1/traces' }, true],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
    [{ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, false],
    [{ ...endpoint, OTEL_SDK_DISABLED: 'True' }, false],
    [{ ...endpoint, OTEL_SDK_DISABLED: 'false' }, true],
  ] as const) {
    it(`is ${expected} for ${JSON.stringify(environment)}`, () =>
      assert.equal(isTracingOn(loadConfig({}, environment)), expected));
  }
});

describe('loadConfig()', () => {
  const faulty = {
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://user:s3cret@collector',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=s3cret%0aa',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-key=s3cret%',
    OTEL_RESOURCE_ATTRIBUTES: 's3cret',
    OTEL_TRACES_SAMPLER: 'jaeger_remote',
    OTEL_TRACES_SAMPLER_ARG: '1.1',
    OTEL_BSP_MAX_QUEUE_SIZE: '0',
  };

  it('tells every fault of tracing at once, and no secret', () => {
    assert.throws(
      () => loadConfig({}, { ...faulty, OTEL_SDK_DISABLED: '' }),
      (error: unknown) => {
        assert.ok(error instanceof ConfigError);
        assert.deepEqual(error.faults.map((fault) => fault.split(' ', 1)[0]).sort(), Object.keys(faulty).sort());
        assert.doesNotMatch(error.message, /s3cret/);
        return true;
      },
    );
  });

  it('reads nothing of it where tracing is turned off', () => {
    for (const off of [{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }])
      assert.deepEqual(loadConfig({}, { ...faulty, ...off }).warnings, []);
  });

  it('reads pairs as OpenTelemetry has them', () => {
    const { otelHeaders, otelResourceAttributes } = loadConfig(
      {},
      {
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi, x-scope = a=b ,',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=produ%63tion,empty=',
      },
    );
    assert.deepEqual(otelHeaders, { authorization: 'Basic YTpi', 'x-scope': 'a=b' });
    assert.deepEqual(otelResourceAttributes, { 'deployment.environment.name': 'production', empty: '' });
  });

  it('warns of variables for traces that it does not read, where requests are traced', () => {
    const other = { OTEL_EXPORTER_OTLP_CERTIFICATE: 'x.pem', OTEL_METRICS_EXPORTER: 'none', OTEL_LOG_LEVEL: 'info' };
    assert.deepEqual(loadConfig({}, { ...endpoint, ...other }).warnings, [
      'OTEL_EXPORTER_OTLP_CERTIFICATE is not a setting of this version',
    ]);
    assert.deepEqual(loadConfig({}, other).warnings, []);
  });
});
