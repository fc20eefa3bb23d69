import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { newId, type SimulationInput } from '@tenon/protocol';
import { createPluginWorld, type PluginWorld } from './helpers/plugin-world.ts';
import { cuttingPlugin, echoPlugin, lengthTest } from './helpers/simulation-modules.ts';

let world: PluginWorld;

before(async () => {
  world = await createPluginWorld();
});

after(() => world.stop());

/** A guest at an extension point with these simulations. */
async function makeTestedGuest(simulations: Readonly<Record<string, SimulationInput>>) {
  const guest = await world.makeGuest('exports: [echo]');
  const token = world.server.quickstart.TENON_TOKEN ?? '';
  const place = `${world.server.url}/api/v1/extension-points/${guest.extensionPoint}/simulations`;
  const putSimulation = async (name: string, simulation: SimulationInput) => {
    const answer = await fetch(`${place}/${name}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(simulation),
    });
    assert.ok(answer.ok, await answer.text());
  };
  for (const [name, simulation] of Object.entries(simulations)) await putSimulation(name, simulation);
  return {
    ...guest,
    putSimulation,
    test: (...args: string[]) => world.tenon(['plugin', 'test', ...args], guest.setting),
  };
}

const modules = { testModuleBase64: lengthTest.toString('base64'), mockInput: 'Ada' };
const fixtures = [
  { export: 'echo', input: '', expect: { equals: '' } },
  { export: 'echo', input: '"a"', expect: { jsonSubset: 'a' } },
];

describe("tenon plugin test: the extension point's simulations", () => {
  it('gives the verdict that a publish gets, to a guest, without a publish', async () => {
    const guest = await makeTestedGuest({ lengths: modules, texts: { fixtures } });
    await guest.write(echoPlugin());
    const good = await guest.test();
    assert.equal(good.exitCode, 0, good.stderr);
    assert.match(good.stdout, /✔ lengths \([\s\S]*✔ texts \([\s\S]*2 of 2 simulations passed\n$/);
    await guest.write(cuttingPlugin);
    const bad = await guest.test('--simulations', '--json');
    assert.equal(bad.exitCode, 1);
    const { verdict, simulations } = bad.json();
    assert.equal(verdict, 'failed');
    assert.deepEqual(
      simulations.map((each: { name: string }) => each.name),
      ['lengths', 'texts'],
    );
    assert.ok(simulations.every(({ revision }: { revision: number }) => revision > 0));
    assert.equal(await guest.bound(), undefined);
  });

  it('runs the tests of tenon.toml without them, unless they are asked for', async () => {
    const guest = await makeTestedGuest({ texts: { fixtures } });
    await guest.write(echoPlugin());
    await writeFile(join(guest.path, 'test.wasm'), lengthTest);
    const toml = `[plugin]\nextension-point = "${guest.extensionPoint}"\nmodule = "sums.wasm"\n\n[[test]]\nname = "mine"\nwith = "test.wasm"\n`;
    await writeFile(join(guest.path, 'tenon.toml'), toml);
    assert.match((await guest.test()).stdout, /^✔ mine \(/);
    assert.match((await guest.test('--simulations')).stdout, /^✔ texts \(/);
  });

  it('tests and publishes an unmodified xtp.toml project', async () => {
    const guest = await makeTestedGuest({ texts: { fixtures } });
    await rm(join(guest.path, 'tenon.toml'));
    await writeFile(join(guest.path, 'source.wasm'), echoPlugin());
    const toml = `app_id = "app_01j2bjr8xcfgqbnscn3eat8mr3"
bin = "dist/plugin.wasm"
extension_point_id = "${guest.extensionPoint}"
name = "sums"

[scripts]
  build = "mkdir -p dist && cp source.wasm dist/plugin.wasm"
  format = "go fmt"
`;
    await writeFile(join(guest.path, 'xtp.toml'), toml);
    assert.equal((await guest.test('--build')).exitCode, 0);
    const { stdout } = await guest.plugin('push', '--build');
    assert.equal(stdout.trim(), await guest.bound());
    assert.match((await guest.plugin('status')).stdout, /^plugin +sums\n/);
    assert.equal((await guest.plugin('call', 'echo', '--local', '--input', 'Ada')).stdout, 'Ada');
  });

  it('ends with 11 without a simulation', async () => {
    const guest = await makeTestedGuest({});
    await guest.write(echoPlugin());
    const { exitCode, stderr } = await guest.test();
    assert.deepEqual([exitCode, /There is no simulation/.test(stderr)], [11, true], stderr);
  });

  it('says that an extension point does not exist', async () => {
    const guest = await makeTestedGuest({});
    const { exitCode } = await guest.test('--simulations', '-e', newId('extensionPoint'));
    assert.equal(exitCode, 4);
  });
});

describe('tenon plugin push to an extension point with simulations', () => {
  it('publishes what passes, and shows why another version failed', async () => {
    const guest = await makeTestedGuest({ lengths: modules });
    const push = (...args: string[]) => world.tenon(['plugin', 'push', ...args], guest.setting);
    await guest.write(echoPlugin());
    const good = await push();
    assert.equal(good.exitCode, 0, good.stderr);
    const address = await guest.bound();
    assert.equal(good.stdout.trim(), address);

    await guest.write(cuttingPlugin);
    const dryRun = await push('--dry-run');
    assert.deepEqual(
      [dryRun.exitCode, /fails the simulations\. Nothing was published\./.test(dryRun.stderr)],
      [1, true],
    );
    const bad = await push('--json');
    assert.equal(bad.exitCode, 1, bad.stderr);
    const { version, status } = bad.json();
    assert.deepEqual([version.state, version.verdict, status.state], ['failed', 'failed', 'failed']);
    const again = await push();
    assert.equal(again.exitCode, 1);
    assert.match(again.stderr, /✖ lengths failed [\s\S]*✖ same length\n {8}lengths differ[\s\S]*hosts don't get it/);
    assert.equal(await guest.bound(), address);

    const rows = (await guest.plugin('versions')).stdout.split('\n');
    assert.match(rows.find((row) => row.startsWith('2 ')) ?? '', / failed +failed +- /);
    assert.match(rows.find((row) => row.startsWith('1 ')) ?? '', / published +passed +1 guest /);
  });

  it('shows the runs of a version, and repeats them', async () => {
    const guest = await makeTestedGuest({ lengths: modules });
    await guest.write(cuttingPlugin);
    const push = () => world.tenon(['plugin', 'push'], guest.setting);
    assert.equal((await push()).exitCode, 1);
    const runs = (await guest.plugin('runs', '@1')).stdout;
    assert.match(runs, /^STATE +VERDICT [\s\S]*\ndone +failed +1 [\s\S]*✖ lengths failed/);
    const rerun = await world.tenon(['plugin', 'rerun', '@1', '--json'], guest.setting);
    assert.deepEqual([rerun.exitCode, rerun.json().verdict], [1, 'failed']);
    assert.equal((await guest.plugin('runs', '@1', '--json')).json().length, 2);

    // A simulation that is mended releases the version.
    await guest.putSimulation('lengths', { fixtures: [{ export: 'echo', input: 'A', expect: { equals: 'A' } }] });
    const passed = await world.tenon(['plugin', 'rerun', '@1'], guest.setting);
    assert.equal(passed.exitCode, 0, passed.stderr);
    assert.match(passed.stdout, /✔ lengths/);
    assert.notEqual(await guest.bound(), undefined);
  });
});
