import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, it } from 'node:test';
import { parseEnv, promisify } from 'node:util';
import { loadConfig, settings } from '@tenon/server';
import { DCLinter } from 'dclint';
import { validate } from 'dockerfile-utils';
import { parse } from 'yaml';
import { root, startServer, withoutTenon } from '../helpers/server.ts';
import { readDockerfile } from './dockerfile.ts';

const folder = join(root, 'deploy');
const read = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8');
/** Documents of other programs, looked at member by member. */
const readYaml = (...path: string[]) => parse(read(...path), { merge: true });
/** With what stands there to be taken when it is wanted. */
const withOffered = (text: string) => text.replaceAll(/^( *)# (?=(?:TENON|OTEL)_)/gm, '$1');

/** Reads settings as the server does, which throws for values that it can't read. */
function takeSettings(environment: Readonly<Record<string, unknown>>) {
  const texts = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value)]));
  const config = loadConfig({}, texts);
  assert.deepEqual(config.warnings, []);
  return config;
}

const stopsWithinSeconds = (environment: Readonly<Record<string, unknown>>): number => {
  const { drainMs, shutdownTimeoutMs } = takeSettings(environment);
  return (drainMs + shutdownTimeoutMs) / 1000;
};

const image = readDockerfile(join(folder, 'Dockerfile'));
const exposed = image.find(({ name }) => name === 'EXPOSE')?.rest;

describe('deploy/Dockerfile', () => {
  it('is one that a linter finds no fault in', () => {
    assert.deepEqual(validate(read('Dockerfile')), []);
    assert.notDeepEqual(validate('FROM node\nRNU true\n'), []);
  });
});

// What Kubernetes, Compose and systemd themselves make of these files is not tried where they are not.
describe('deploy/kubernetes', () => {
  const deployment = readYaml('kubernetes', 'deployment.yaml');
  const [container] = deployment.spec.template.spec.containers;
  const asDelivered = {
    ...readYaml('kubernetes', 'configmap.yaml').data,
    ...readYaml('kubernetes', 'secret.example.yaml').stringData,
  };
  const environment = { ...asDelivered, TENON_TRUSTED_PROXIES: '192.0.2.10' };

  it('has no member, and no value, that Kubernetes does not know', async () => {
    const types: Readonly<Record<string, string>> = {
      'configmap.yaml': 'core/v1:ConfigMap',
      'deployment.yaml': 'apps/v1:Deployment',
      'network-policy.yaml': 'networking/v1:NetworkPolicy',
      'pod-disruption-budget.yaml': 'policy/v1:PodDisruptionBudget',
      'secret.example.yaml': 'core/v1:Secret',
      'service.yaml': 'core/v1:Service',
    };
    const objects = Object.entries(types).map(([file, type]) => ({ type, object: readYaml('kubernetes', file) }));
    assert.equal(await typeFaults(objects), '');
    const wrong = structuredClone(deployment);
    wrong.spec.template.spec.containers[0].readinessProbe.periodSecond = 2;
    assert.match(await typeFaults([{ type: 'apps/v1:Deployment', object: wrong }]), /periodSecond/);
  });

  it('lets the namespace of the monitoring alone read metrics, on the port that they are on', () => {
    const [service, metrics, ...others] = readYaml('kubernetes', 'network-policy.yaml').spec.ingress;
    assert.deepEqual([service, others], [{ ports: [{ port: 'http' }] }, []]);
    assert.deepEqual(metrics, {
      from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      ports: [{ port: 'metrics' }],
    });
    const port = container.ports.find(({ name }: { name: string }) => name === 'metrics').containerPort;
    assert.equal(takeSettings(environment).metricsPort, port);
    assert.equal(deployment.spec.template.metadata.annotations['prometheus.io/port'], String(port));
    const served = readYaml('kubernetes', 'service.yaml').spec.ports;
    assert.deepEqual(
      served.map(({ targetPort }: { targetPort: string }) => targetPort),
      ['http'],
      'no proxy leads to metrics',
    );
  });

  it('names every file but the example of a secret in its kustomization', () => {
    const files = readdirSync(join(folder, 'kubernetes')).filter((file) => !/^(kustomization|secret)/.test(file));
    assert.deepEqual(readYaml('kubernetes', 'kustomization.yaml').resources.sort(), files.sort());
  });

  it('starts no server before the proxies are named', () => {
    assert.throws(() => takeSettings(asDelivered), /TENON_TRUSTED_PROXIES must hold IP addresses/);
  });

  it('gives settings that the server takes, and time enough to stop', () => {
    assert.ok(deployment.spec.template.spec.terminationGracePeriodSeconds > stopsWithinSeconds(environment));
    assert.ok(takeSettings(environment).drainMs > 0);
    takeSettings({ ...parse(withOffered(read('kubernetes', 'configmap.yaml'))).data, ...environment });
    const names = container.envFrom.flatMap(Object.values).map(({ name }: { name: string }) => name);
    assert.deepEqual(names, [
      readYaml('kubernetes', 'configmap.yaml').metadata.name,
      readYaml('kubernetes', 'secret.example.yaml').metadata.name,
    ]);
  });

  it('finds a node that drains out before the node stops, and never kills one for a store that is away', () => {
    const { readinessProbe, livenessProbe, startupProbe } = container;
    assert.equal(readinessProbe.httpGet.path, '/readyz');
    assert.ok(
      readinessProbe.periodSeconds * readinessProbe.failureThreshold < takeSettings(environment).drainMs / 1000,
    );
    assert.deepEqual([livenessProbe.httpGet.path, startupProbe.httpGet.path], ['/healthz', '/healthz']);
    assert.deepEqual(deployment.spec.strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 });
  });

  it('asks and serves the port that the image listens on, by its name', () => {
    const [port] = container.ports;
    assert.equal(String(port.containerPort), exposed);
    const asked = ['startupProbe', 'readinessProbe', 'livenessProbe'].map((probe) => container[probe].httpGet.port);
    const [served] = readYaml('kubernetes', 'service.yaml').spec.ports;
    const [entered] = readYaml('kubernetes', 'network-policy.yaml').spec.ingress[0].ports;
    assert.deepEqual(new Set([...asked, served.targetPort, entered.port]), new Set([port.name]));
  });

  it('means the same pods everywhere', () => {
    const labels = deployment.spec.template.metadata.labels;
    assert.deepEqual(deployment.spec.selector.matchLabels, labels);
    assert.deepEqual(readYaml('kubernetes', 'service.yaml').spec.selector, labels);
    assert.deepEqual(readYaml('kubernetes', 'pod-disruption-budget.yaml').spec.selector.matchLabels, labels);
    assert.deepEqual(readYaml('kubernetes', 'network-policy.yaml').spec.podSelector.matchLabels, labels);
    assert.ok(readYaml('kubernetes', 'pod-disruption-budget.yaml').spec.minAvailable < deployment.spec.replicas);
  });

  it('runs as the image does, without root, on a read-only file system', () => {
    const { securityContext, volumes } = deployment.spec.template.spec;
    const user = image.find(({ name }) => name === 'USER')?.rest;
    assert.equal(`${securityContext.runAsUser}:${securityContext.runAsGroup}`, user);
    assert.ok(securityContext.runAsNonRoot && container.securityContext.readOnlyRootFilesystem);
    const [mount] = container.volumeMounts;
    assert.deepEqual([mount.name, mount.mountPath], [volumes[0].name, '/var/lib/tenon']);
  });
});

describe('deploy/compose', () => {
  const text = read('compose', 'compose.yaml')
    .replaceAll(/\$\{\w+:\?\}/g, 's3cret')
    .replaceAll(/\$\{\w+:-(.*?)\}/g, '$1');
  const compose = parse(text, { merge: true });
  const nodes = ['tenon-1', 'tenon-2'];

  it('is what the schema of Compose allows', () => {
    const linter = new DCLinter({
      // The image is built here, once, and has a name; which object store is taken is for who runs it to say.
      rules: { 'no-build-and-image': 0, 'service-image-require-explicit-tag': 0 },
      quiet: true,
      debug: false,
      exclude: [],
      'disable-color': true,
    });
    const faultsOf = (file: string): string[] =>
      linter
        .lintFiles([file], false)
        .flatMap(({ messages }: { messages: { type: string; message: string }[] }) => messages)
        .filter(({ type }: { type: string }) => type === 'error')
        .map(({ message }: { message: string }) => message);
    assert.deepEqual(faultsOf(join(folder, 'compose', 'compose.yaml')), []);
    const place = mkdtempSync(join(tmpdir(), 'tenon-compose-'));
    const wrong = join(place, 'compose.yaml');
    writeFileSync(wrong, read('compose', 'compose.yaml').replace('read_only:', 'read_onyl:'));
    assert.match(faultsOf(wrong).join(), /read_onyl|additional properties/);
    rmSync(place, { recursive: true });
  });

  it('gives both nodes settings that the server takes, and time enough to stop', () => {
    takeSettings(parse(withOffered(text), { merge: true }).services['tenon-1'].environment);
    for (const name of nodes) {
      const { environment, stop_grace_period, read_only, volumes } = compose.services[name];
      assert.ok(Number.parseInt(stop_grace_period, 10) > stopsWithinSeconds(environment));
      assert.ok(read_only);
      assert.deepEqual(volumes, [`${name}:/var/lib/tenon`]);
    }
    const files = [compose.services['tenon-1'].build, compose.services.bucket.build];
    for (const { context, dockerfile } of files) assert.ok(existsSync(join(folder, 'compose', context, dockerfile)));
  });

  it('names services that there are, in settings and in what waits for what', () => {
    const { environment, depends_on } = compose.services['tenon-1'];
    for (const url of [environment.TENON_DATABASE_URL, environment.TENON_S3_ENDPOINT])
      assert.ok(compose.services[new URL(url).hostname], url);
    for (const name of Object.keys(depends_on)) assert.ok(compose.services[name], name);
  });

  it('sends to both nodes on their port, as long as they are ready', () => {
    const proxy = read('compose', 'haproxy.cfg');
    const servers = [...proxy.matchAll(/^ {2}server (\S+) (\S+):(\d+)$/gm)];
    assert.deepEqual(
      servers.map(([, name, host, port]) => [name, host, port]),
      nodes.map((name) => [name, name, exposed]),
    );
    assert.match(proxy, /option httpchk GET \/readyz/);
    const [, inter, fall] = /check inter (\d+)s fall (\d+)/.exec(proxy) ?? [];
    assert.ok(Number(inter) * Number(fall) < takeSettings(compose.services['tenon-1'].environment).drainMs / 1000);
  });
});

describe('deploy/systemd', () => {
  const unit = read('systemd', 'tenon.service');
  const unitValue = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';

  it('starts a server with its command and its environment', { skip: process.platform === 'win32' }, async () => {
    const [node = '', script = '', verb, ...args] = unitValue('ExecStart').replaceAll('/opt/tenon', root).split(' ');
    assert.ok(existsSync(script) && existsSync(node));
    assert.deepEqual([verb, args], ['serve', ['--no-demo']]);
    const { stdout } = await promisify(execFile)(node, [script, '--version'], { env: withoutTenon(process.env) });
    assert.match(stdout, /\d/);
    const wrapper = read('systemd', 'tenon').replaceAll('/opt/tenon', root);
    const viaWrapper = await promisify(execFile)('sh', ['-c', wrapper, 'tenon', '--version'], {
      env: withoutTenon(process.env),
    });
    assert.equal(viaWrapper.stdout, stdout);
    const server = await startServer({ args, settings: { NODE_ENV: 'production' } });
    await server.stop();
  });

  it('comes with an example of settings that the server takes, those that are commented out too', () => {
    const text = read('systemd', 'tenon.env');
    assert.ok(takeSettings(parseEnv(text)).publicUrl);
    const all = parseEnv(withOffered(text));
    assert.equal(all.TENON_WORKERS, 'auto');
    assert.ok(Number(unitValue('TimeoutStopSec')) > stopsWithinSeconds(all));
    const assigned = unitValue('Environment')
      .split(' ')
      .map((each) => each.split('=', 1)[0] ?? '');
    const known = new Set(Object.values(settings).map(({ variable }) => variable as string));
    for (const name of assigned.filter((each) => each.startsWith('TENON_'))) assert.ok(known.has(name), name);
  });

  const [, systemd = '0'] = /^systemd (\d+)/.exec(String(spawnSync('systemd-analyze', ['--version']).stdout)) ?? [];
  const hasSystemd = Number(systemd) >= 250; // the first that looks at files beside a running system
  it('is a unit without faults, and little exposed', {
    skip: !hasSystemd && 'there is no systemd-analyze',
  }, async () => {
    const copy = mkdtempSync(join(tmpdir(), 'tenon-unit-'));
    try {
      const file = join(copy, 'tenon.service');
      const program = join(copy, 'node');
      writeFileSync(program, '#!/bin/sh\n');
      chmodSync(program, 0o755);
      writeFileSync(file, unit.replace(unitValue('ExecStart'), program).replace(/^Documentation=.*\n/m, ''));
      const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', file]);
      assert.doesNotMatch(stderr, /tenon\.service/);
      await promisify(execFile)('systemd-analyze', ['security', '--offline=true', '--threshold=20', file]);
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  });
});

/** What the compiler says of objects that Kubernetes is to be given, by its types: `apps/v1:Deployment`. */
async function typeFaults(objects: readonly { readonly type: string; readonly object: unknown }[]): Promise<string> {
  const lines = objects.map(({ type, object }, index) => {
    const [module = '', name = ''] = type.split(':');
    const file = join(root, 'node_modules', 'kubernetes-types', `${module}.d.ts`);
    return `export const object${index}: import(${JSON.stringify(file)}).${name} = ${JSON.stringify(object)};`;
  });
  const place = mkdtempSync(join(tmpdir(), 'tenon-manifests-'));
  try {
    const file = join(place, 'objects.ts');
    writeFileSync(file, lines.join('\n'));
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const args = [compiler, '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', '', file];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: place }).catch((error) => error);
    return stdout;
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
