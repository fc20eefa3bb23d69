import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createPluginWorld, moduleOf, type PluginWorld } from './helpers/plugin-world.ts';
import { hasScript, inTerminal } from './helpers/terminal.ts';

let world: PluginWorld;
const tenon: PluginWorld['tenon'] = (...args) => world.tenon(...args);
const makeGuest: PluginWorld['makeGuest'] = (...args) => world.makeGuest(...args);

before(async () => {
  world = await createPluginWorld();
});

after(() => world.stop());

describe('the build of a tenon.toml', () => {
  const command = `printf '%s|' "$PWD" "$TENON_TOKEN" 'a;b' $(echo c) > said.txt && cp source.wasm sums.wasm`;

  async function makeProject() {
    const guest = await makeGuest();
    const toml = `[plugin]\nname = "sums"\nextension-point = "${guest.extensionPoint}"\nmodule = "sums.wasm"\nbuild = """${command}"""\n`;
    await writeFile(join(guest.path, 'tenon.toml'), toml);
    await writeFile(join(guest.path, 'source.wasm'), moduleOf(7));
    return { ...guest, said: () => readFile(join(guest.path, 'said.txt'), 'utf8').catch(() => undefined) };
  }

  it('is not run by default', async () => {
    const project = await makeProject();
    const { exitCode, stderr } = await tenon(['plugin', 'push'], project.setting);
    assert.deepEqual([exitCode, await project.said()], [2, undefined]);
    assert.ok(stderr.includes(command) && stderr.includes('Add --build'), stderr);
    await project.write(moduleOf(1));
    await project.plugin('push');
    assert.equal(await project.said(), undefined, 'the module is there');
  });

  it('is run by the shell as it stands there, in its folder, without the token', async () => {
    const project = await makeProject();
    const { stderr } = await project.plugin('push', '--build');
    assert.equal(await project.said(), `${project.path}||a;b|c|`);
    assert.ok(stderr.startsWith(`$ ${command}\nBuilt in `), stderr);
  });

  it('keeps a failure from being published', async () => {
    const project = await makeProject();
    await project.write(moduleOf(1));
    const toml = `[plugin]\nname = "sums"\nextension-point = "${project.extensionPoint}"\nmodule = "sums.wasm"\nbuild = "exit 3"\n`;
    await writeFile(join(project.path, 'tenon.toml'), toml);
    const { exitCode, stderr } = await tenon(['plugin', 'push', '--build'], project.setting);
    assert.equal(exitCode, 1);
    assert.match(stderr, /The build ended with 3: exit 3\n.*Nothing was published\./);
    assert.equal(await project.bound(), undefined);
  });

  if (hasScript()) {
    for (const [answer, isRun] of [
      ['y', true],
      ['n', false],
    ] as const) {
      it(`is ${isRun ? '' : 'not '}run after "${answer}" in a terminal`, async () => {
        const project = await makeProject();
        const args = ['plugin', 'push', '--project', project.path];
        const { ended } = inTerminal(args, {
          environment: project.setting.environment,
          replies: [[/This command will run in [\s\S]*cp source\.wasm sums\.wasm[\s\S]*\[y\/N\] /, `${answer}\r`]],
        });
        const { exitCode, screen } = await ended;
        assert.equal(exitCode, isRun ? 0 : 1, screen);
        assert.equal((await project.said()) !== undefined, isRun);
        assert.equal((await project.bound()) !== undefined, isRun);
      });
    }
  }
});
