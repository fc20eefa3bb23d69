import { idPrefixes, isId, isPluginName, pluginNamePattern } from '@tenon/protocol';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseToml, placeInToml } from './parse-toml.ts';
import type { TenonToml } from './tenon-toml.ts';
import { isTable, isText, readTests, shown } from './test-settings.ts';
import { positionOfKey } from './toml-position.ts';

/** The file of the `xtp` program beside a plugin. It is read as it is, where there is no `tenon.toml`. */
export const xtpTomlName = 'xtp.toml';

const testKeys = {
  name: 'name',
  build: 'build',
  with: 'with',
  mock_host: 'mockHost',
  mock_input: 'mockInput',
} as const;

/**
 * Reads an `xtp.toml`. Keys that mean nothing here, such as `app_id` and `scripts.format`, are ignored.
 *
 * @param path what to call it
 * @throws CliError `invalid_xtp_toml` with line and column
 */
export function parseXtpToml(text: string, path: string): { settings: TenonToml; warnings: string[] } {
  const fault = (keys: readonly string[], what: string) =>
    new CliError('invalid_xtp_toml', `${placeInToml(path, positionOfKey(text, keys))}: ${what}`, {
      exitCode: exitCodes.usage,
    });
  const table = parseToml(text, path, 'invalid_xtp_toml');
  const scripts = table.scripts ?? {};
  if (!isTable(scripts)) throw fault(['scripts'], '"scripts" is a table: write [scripts] above what belongs to it.');
  const read = (
    value: unknown,
    keys: readonly string[],
    isGood: (text: string) => boolean,
    wanted: string,
  ): string | undefined => {
    // `xtp` writes an empty text for what is not set.
    if (value === undefined || value === '') return undefined;
    if (typeof value === 'string' && isGood(value)) return value;
    throw fault(keys, `"${keys.join('.')}" expects ${wanted}, and is ${shown(value)}.`);
  };
  const isExtensionPoint = (id: string) => isId('extensionPoint', id);
  const settings = {
    name: read(table.name, ['name'], isPluginName, `a name that matches ${pluginNamePattern}`),
    extensionPoint: read(
      table.extension_point_id,
      ['extension_point_id'],
      isExtensionPoint,
      `an id, ${idPrefixes.extensionPoint}_…`,
    ),
    module: read(table.bin, ['bin'], (file) => isText(file, false), 'the path of a file'),
    build: read(scripts.build, ['scripts', 'build'], (command) => isText(command, true), 'a command'),
    tests:
      table.test === undefined ? undefined : readTests(table.test, { keys: testKeys, hasLines: true }, fault, () => {}),
  };
  const known = Object.entries(settings).filter(([, value]) => value !== undefined);
  return { settings: Object.fromEntries(known), warnings: [] };
}
