import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Simulation, SimulationTrial } from '@tenon/protocol';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { makeFolder } from './helpers/folder.ts';
import { tenon } from './helpers/streams.ts';

/** `(module (func (export "test") (result i32) i32.const 0))` */
const testModule = Buffer.from('0061736d010000000105016000017f03020100070801047465737400000a0601040041000b', 'hex');

describe('tenon extension-point simulation', () => {
  let server: InProcessServer;
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  before(async () => {
    server = await startInProcessServer();
    folder = await makeFolder();
    await writeFile(file('test.wasm'), testModule);
    await writeFile(file('good.json'), JSON.stringify([{ export: 'greet', input: 'Ada', expect: {} }]));
    await writeFile(file('bad.json'), JSON.stringify([{ export: 'greet', input: 'Ada', expect: { equals: '?' } }]));
  });
  after(async () => {
    await server.stop();
    await folder.remove();
  });

  const file = (name: string) => join(folder.path, name);
  const run = (...args: readonly string[]) =>
    tenon(['extension-point', 'simulation', ...args], { environment: { TENON_DATA_DIR: server.dataDir } });
  const succeed = async (...args: readonly string[]) => {
    const result = await run(...args);
    assert.equal(result.exitCode, 0, result.stderr);
    return result;
  };

  it('puts, lists, shows, pulls, and deletes simulations', async () => {
    await succeed('put', 'basics', '--with', file('test.wasm'), '--mock-input-data', 'Ada');
    const put = JSON.parse(
      (await succeed('put', 'fixed', '--fixtures', file('good.json'), '--json')).stdout,
    ) as Simulation;
    assert.deepEqual([put.name, put.kind, put.revision], ['fixed', 'fixtures', 2]);
    const { stdout } = await succeed('list');
    assert.match(stdout, /basics +test module .*\n.*fixed +1 fixture /);
    assert.match((await succeed('show', 'basics')).stdout, /mock input +3 bytes|mock input/);
    await succeed('pull', '-o', file('pulled'));
    assert.deepEqual(await readFile(file('pulled/basics.wasm')), testModule);
    assert.equal(await readFile(file('pulled/basics.mock-input'), 'utf8'), 'Ada');
    assert.deepEqual(JSON.parse(await readFile(file('pulled/fixed.json'), 'utf8')), put.fixtures);
    assert.equal((await succeed('delete', 'basics', '--yes')).stdout, '');
    const gone = await run('show', 'basics');
    assert.equal(gone.exitCode, 4);
  });

  it('refuses commands without a test, and invalid files', async () => {
    for (const args of [[], ['--mock-input-data', 'x']])
      assert.equal((await run('put', 'nothing', ...args)).exitCode, 2);
    assert.equal((await run('put', 'wrong', '--with', file('good.json'))).exitCode, 7);
    assert.equal((await run('put', 'wrong', '--fixtures', file('test.wasm'))).exitCode, 7);
    assert.equal((await run('put', '..', '--with', file('test.wasm'))).exitCode, 2);
  });

  it('tries simulations with the bound versions', async () => {
    const good = await succeed('try', '--fixtures', file('good.json'));
    assert.match(good.stdout, /greet.* passed/);
    const bad = await run('try', '--fixtures', file('bad.json'));
    assert.equal(bad.exitCode, 1);
    assert.match(bad.stderr, /would not pass/);
    const json = await run('try', 'mine', '--fixtures', file('bad.json'), '--json');
    const trial = JSON.parse(json.stdout) as SimulationTrial;
    assert.equal(trial.objects[0]?.simulations[0]?.name, 'mine');
    assert.equal((await run('try', 'unknown')).exitCode, 4);
  });
});
