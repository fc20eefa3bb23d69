import { nearestWord } from '@tenon/extension-schema/nearest-word';
import {
  displayNamePattern,
  idPrefixes,
  isId,
  isPluginName,
  maxDescriptionLength,
  maxReasonLength,
  parseHomepage,
  pluginNamePattern,
} from '@tenon/protocol';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { readServerOption } from '../profiles.ts';
import { parseToml, placeInToml } from './parse-toml.ts';
import { isTable, isText, readTests, shown, type TestSetting } from './test-settings.ts';
import { positionOfKey } from './toml-position.ts';

/** The file beside a plugin that says what it is called, where it goes and how it is built: docs/reference/tenon-toml.md. */
export const tenonTomlName = 'tenon.toml';

/** The most bytes that it may have: what is longer is another file of that name. */
export const maxTenonTomlBytes = 64 * 1024;

/** The contents of a project file. All fields are optional. */
export interface TenonToml {
  readonly name?: string;
  readonly extensionPoint?: string;
  /** A URL, or a login's name. */
  readonly server?: string;
  /** The built module, from the file's folder on. */
  readonly module?: string;
  /** A line for the system's shell that makes the module. */
  readonly build?: string;
  readonly description?: string;
  readonly homepage?: string;
  /** A Markdown file, from the file's folder on. */
  readonly readme?: string;
  readonly guest?: string;
  readonly note?: string;
  readonly tests?: readonly TestSetting[];
}

type TextKey = Exclude<keyof TenonToml, 'tests'>;

interface Setting {
  readonly key: TextKey;
  /** Completes "expected …" for an invalid text; `undefined` for a valid one. */
  readonly fault: (text: string) => string | undefined;
}

const known: ReadonlyMap<string, Setting> = new Map<string, Setting>([
  ['plugin.name', { key: 'name', fault: unless(isPluginName, `a name that matches ${pluginNamePattern}`) }],
  ['plugin.extension-point', { key: 'extensionPoint', fault: anId('extensionPoint') }],
  ['plugin.server', { key: 'server', fault: unless(isServer, "a server's URL, or a login's name") }],
  ['plugin.module', { key: 'module', fault: unless((text) => isText(text, false), 'the path of a file') }],
  ['plugin.build', { key: 'build', fault: unless((text) => isText(text, false), 'a command, in one line') }],
  [
    'plugin.description',
    { key: 'description', fault: unless(isDescription, `a text of 1 to ${maxDescriptionLength} characters`) },
  ],
  ['plugin.homepage', { key: 'homepage', fault: unless(isHomepage, 'an https or http URL') }],
  ['plugin.readme', { key: 'readme', fault: unless((text) => isText(text, false), 'the path of a file') }],
  ['plugin.publish.guest', { key: 'guest', fault: anId('guest') }],
  ['plugin.publish.note', { key: 'note', fault: unless(isNote, `a note of 1 to ${maxReasonLength} characters`) }],
]);

const testKeys = {
  name: 'name',
  build: 'build',
  with: 'with',
  'mock-host': 'mockHost',
  'mock-input': 'mockInput',
  fixtures: 'fixtures',
} as const;

/** The keys that mean something. */
export const tenonTomlKeys: readonly string[] = [...known.keys(), ...Object.keys(testKeys).map((key) => `test.${key}`)];

const tables = ['plugin', 'plugin.publish'];

/**
 * Reads a `tenon.toml`.
 *
 * @param path what to call it
 * @returns what it says, and warnings: an unknown key, with the nearest known one
 * @throws CliError `invalid_tenon_toml` with line and column
 */
export function parseTenonToml(text: string, path: string): { settings: TenonToml; warnings: string[] } {
  const settings: { -readonly [Key in keyof TenonToml]: TenonToml[Key] } = {};
  const warnings: string[] = [];
  const say = (keys: readonly string[], what: string) => `${placeInToml(path, positionOfKey(text, keys))}: ${what}`;
  const fault = (keys: readonly string[], what: string) => invalid(say(keys, what));
  const dialect = { keys: testKeys, hasLines: false };
  const visit = (table: Readonly<Record<string, unknown>>, above: readonly string[]) => {
    for (const [key, value] of Object.entries(table)) {
      const keys = [...above, key];
      const name = keys.join('.');
      const setting = known.get(name);
      if (setting !== undefined) {
        const fault = typeof value === 'string' ? setting.fault(value) : 'text';
        if (fault !== undefined) throw invalid(say(keys, `"${name}" expects ${fault}, and is ${shown(value)}.`));
        settings[setting.key] = value as string;
      } else if (name === 'test') {
        settings.tests = readTests(value, dialect, fault, ([list = '', at = '', unknown = '']) => {
          warnings.push(say([list, at, unknown], `"test.${unknown}" means nothing here${hint(['test'], unknown)}`));
        });
      } else if (!tables.includes(name)) {
        warnings.push(say(keys, `"${name}" means nothing here${hint(above, key)}`));
      } else if (isTable(value)) {
        visit(value, keys);
      } else {
        throw invalid(say(keys, `"${name}" is a table: write [${name}] above what belongs to it.`));
      }
    }
  };
  visit(parseToml(text, path, 'invalid_tenon_toml'), []);
  return { settings, warnings };
}

function invalid(message: string): CliError {
  return new CliError('invalid_tenon_toml', message, { exitCode: exitCodes.usage });
}

/** The nearest known key, in this table or another. */
function hint(above: readonly string[], key: string): string {
  const prefix = above.length === 0 ? '' : `${above.join('.')}.`;
  const names = [...tenonTomlKeys, ...tables];
  const here = names.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
  const folded = key.toLowerCase().replaceAll('_', '-');
  const elsewhere = names.find((name) => name.split('.').at(-1) === folded);
  const near = nearestWord(
    key,
    here.filter((name) => !name.includes('.')),
  );
  const meant = near === undefined ? elsewhere : prefix + near;
  return meant === undefined ? '.' : `; did you mean "${meant}"?`;
}

function unless(isGood: (text: string) => boolean, wanted: string): Setting['fault'] {
  return (text) => (isGood(text) ? undefined : wanted);
}

function anId(kind: 'extensionPoint' | 'guest'): Setting['fault'] {
  return unless((text) => isId(kind, text), `an id, ${idPrefixes[kind]}_…`);
}

function isServer(text: string): boolean {
  try {
    readServerOption(text);
    return true;
  } catch {
    return false;
  }
}

function isDescription(text: string): boolean {
  return text.length <= maxDescriptionLength && new RegExp(displayNamePattern, 'u').test(text);
}

function isHomepage(text: string): boolean {
  return parseHomepage(text) !== undefined;
}

function isNote(text: string): boolean {
  return text.trim() !== '' && text.length <= maxReasonLength;
}

/** The text of a `tenon.toml`. */
export function formatTenonToml({ guest, note, ...plugin }: Omit<TenonToml, 'tests'>): string {
  const { name, extensionPoint, server, module, build, description, homepage, readme } = plugin;
  const lines = (entries: readonly (readonly [string, string | undefined])[]) =>
    entries.map(([key, value]) => (value === undefined ? '' : `${key} = ${tomlText(value)}\n`)).join('');
  const publish = lines([
    ['guest', guest],
    ['note', note],
  ]);
  const table = lines([
    ['name', name],
    ['extension-point', extensionPoint],
    ['server', server],
    ['module', module],
    ['build', build],
    ['description', description],
    ['homepage', homepage],
    ['readme', readme],
  ]);
  return `[plugin]\n${table}${publish === '' ? '' : `\n[plugin.publish]\n${publish}`}`;
}

/** TOML's basic strings have all of JSON's escapes, and no control characters either; U+007F is JSON's alone. */
function tomlText(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}
