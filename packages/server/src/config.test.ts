import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { describe, it } from 'node:test';
import { ConfigError, loadConfig } from './config.ts';
import { settings } from './config-settings.ts';

describe('loadConfig()', () => {
  it('has a default for every setting', () => {
    const config = loadConfig({}, {});
    for (const [name, setting] of Object.entries(settings)) {
      assert.deepEqual(config[name as keyof typeof settings], setting.default, name);
    }
    assert.equal(config.demo, undefined);
    assert.ok(Object.isFrozen(config));
  });

  it('reads variables, and flags before them', () => {
    const environment = {
      TENON_PORT: '1234',
      TENON_HOST: '0.0.0.0',
      TENON_MAX_MODULE_BYTES: '2 MiB',
      TENON_KEEP_ALIVE_SECONDS: '1.5',
    };
    const config = loadConfig({ port: '99', demo: true }, environment);
    assert.equal(config.port, 99);
    assert.equal(config.host, '0.0.0.0');
    assert.equal(config.maxModuleBytes, 2 * 1024 * 1024);
    assert.equal(config.keepAliveTimeoutMs, 1500);
    assert.equal(config.demo, true);
  });

  it('takes an empty variable for none', () => {
    assert.equal(loadConfig({}, { TENON_PORT: '' }).port, 8366);
  });

  it('keeps URLs without the slash at their end', () => {
    const { publicUrl } = loadConfig({}, { TENON_PUBLIC_URL: 'https://Plugins.example/tenon/' });
    assert.equal(publicUrl, 'https://plugins.example/tenon');
    assert.equal(loadConfig({}, { TENON_PUBLIC_URL: 'https://plugins.example/' }).publicUrl, 'https://plugins.example');
  });

  it('tells every fault at once, by the name under which each was set', () => {
    const environment = {
      TENON_PORT: '70000',
      TENON_PUBLIC_URL: 'ftp://x',
      TENON_TRUSTED_PROXIES: '10.0.0.0/8, nonsense',
      TENON_ONLY: 'distribution',
      TENON_MAX_JSON_BYTES: '1e3',
      TENON_MODULE_WORKERS: '0',
    };
    assert.throws(
      () => loadConfig({ logLevel: 'loud' }, environment),
      (error: unknown) => {
        assert.ok(error instanceof ConfigError);
        for (const name of [...Object.keys(environment), '--log-level']) {
          assert.equal(error.faults.filter((fault) => fault.startsWith(`${name} `)).length, 1, name);
        }
        assert.equal(error.faults.length, 7);
        return true;
      },
    );
  });

  it('takes auto for as many workers as there are cores', () => {
    assert.equal(loadConfig({}, { TENON_WORKERS: 'auto' }).workers, Math.min(256, availableParallelism()));
    assert.equal(loadConfig({ workers: '3' }, { TENON_WORKERS: 'auto' }).workers, 3);
    assert.equal(loadConfig({}, {}).workers, 1);
    for (const workers of ['0', '-1', '1.5', '257', 'all', ' ', ''])
      assert.throws(() => loadConfig({ workers }, {}), ConfigError, workers);
  });

  it('warns of variables that set nothing', () => {
    const { warnings } = loadConfig({}, { TENON_PROT: '1', TENON_TOKEN: 'of the command line', OTHER: 'x' });
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /TENON_PROT/);
  });
});

describe('settings', () => {
  it('are in the reference, each with its words, and no other', () => {
    const page = readFileSync(new URL('../../../docs/reference/configuration.md', import.meta.url), 'utf8');
    const rows = new Map(
      [...page.matchAll(/^\| `((?:TENON|OTEL)_\w+)` \|.*\| (.*) \|$/gm)].map(([, name, words]) => [name, words]),
    );
    const expected = Object.values(settings).map(({ variable, description }) => [variable, description]);
    assert.deepEqual(Object.fromEntries(rows), Object.fromEntries(expected));
  });
});
