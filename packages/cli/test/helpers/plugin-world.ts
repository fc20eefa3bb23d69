import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startInProcessServer } from '../../../../test/helpers/in-process-server.ts';
import { makeFolder } from './folder.ts';
import { tenon as runTenon, type Setting } from './streams.ts';
import { wat } from './wat.ts';

/** A module that differs from others by the number that it answers. */
export function moduleOf(number: number): Buffer {
  return wat(`(module (func (export "run") (result i32) i32.const ${number}))`);
}

/** A real server, and people who publish to it from folders of their own. */
export type PluginWorld = Awaited<ReturnType<typeof createPluginWorld>>;

/** @param settings environment variables of the server */
export async function createPluginWorld(settings: Readonly<Record<string, string>> = {}) {
  const server = await startInProcessServer({ settings });
  const folder = await makeFolder();
  let nextName = 1;
  const stop = async () => {
    await server.stop();
    await folder.remove();
  };
  return { server, folder, app: server.quickstart.TENON_APP_ID ?? '', tenon, demand, line, makeGuest, stop };

  /** As the application's owner, unless another environment is given. */
  function tenon(args: readonly string[], setting: Setting = {}) {
    return runTenon(args, { environment: { TENON_DATA_DIR: server.dataDir }, workingFolder: folder.path, ...setting });
  }

  async function demand(args: readonly string[], setting: Setting = {}) {
    const outcome = await tenon(args, setting);
    assert.equal(outcome.exitCode, 0, `tenon ${args.join(' ')}: ${outcome.stderr}`);
    return outcome;
  }

  async function line(args: readonly string[], setting: Setting = {}): Promise<string> {
    return (await demand(args, setting)).stdout.trim();
  }

  /** A guest with a plugin's folder, at an extension point of their own. */
  async function makeGuest(schema = 'exports: [run]', { requiresApproval = false } = {}) {
    const guestName = `guest-${nextName++}`;
    const user = await line(['admin', 'user', 'create', guestName]);
    const token = await line(['admin', 'token', 'create', user]);
    const settings = requiresApproval ? ['--requires-approval'] : [];
    const extensionPoint = await line(['ext', 'create', guestName, '--schema', '-', ...settings], { stdin: schema });
    const environment = { TENON_URL: server.url, TENON_TOKEN: token };
    await demand(['invitation', 'accept', await line(['guest', 'invite', guestName])], { environment });
    const path = join(folder.path, guestName);
    await mkdir(path);
    const toml = `[plugin]\nname = "sums"\nextension-point = "${extensionPoint}"\nmodule = "sums.wasm"\n`;
    await writeFile(join(path, 'tenon.toml'), toml);
    const setting = { environment, workingFolder: path };
    return {
      guestName,
      user,
      extensionPoint,
      path,
      setting,
      id: `${extensionPoint}/plugin/${user}/sums`,
      /** Runs a command where the plugin's tenon.toml is. */
      plugin: (...args: string[]) => demand(['plugin', ...args], setting),
      write: (bytes: Uint8Array) => writeFile(join(path, 'sums.wasm'), bytes),
      /** What a host loads. */
      bound: async () =>
        (await demand(['bindings', '-e', extensionPoint, guestName, '--json'])).json().sums?.contentAddress,
      async push(number: number, ...args: string[]) {
        await writeFile(join(path, 'sums.wasm'), moduleOf(number));
        return demand(['plugin', 'push', ...args], setting);
      },
    };
  }
}
