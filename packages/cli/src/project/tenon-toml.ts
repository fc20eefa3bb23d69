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
import { parse, TomlError } from 'smol-toml';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { readServerOption } from '../profiles.ts';
import { type Position, positionOfKey } from './toml-position.ts';

/** The file beside a plugin that says what it is called, where it goes and how it is built: docs/reference/tenon-toml.md. */
export const tenonTomlName = 'tenon.toml';

/** The most bytes that it may have: what is longer is another file of that name. */
export const maxTenonTomlBytes = 64 * 1024;

/** The contents of a `tenon.toml`. All fields are optional. */
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
}

interface Setting {
  readonly key: keyof TenonToml;
  /** Completes "expected …" for an invalid text; `undefined` for a valid one. */
  readonly fault: (text: string) => string | undefined;
}

const known: ReadonlyMap<string, Setting> = new Map<string, Setting>([
  ['plugin.name', { key: 'name', fault: unless(isPluginName, `a name that matches ${pluginNamePattern}`) }],
  ['plugin.extension-point', { key: 'extensionPoint', fault: anId('extensionPoint') }],
  ['plugin.server', { key: 'server', fault: unless(isServer, "a server's URL, or a login's name") }],
  ['plugin.module', { key: 'module', fault: unless(isOneLine, 'the path of a file') }],
  ['plugin.build', { key: 'build', fault: unless(isOneLine, 'a command, in one line') }],
  [
    'plugin.description',
    { key: 'description', fault: unless(isDescription, `a text of 1 to ${maxDescriptionLength} characters`) },
  ],
  ['plugin.homepage', { key: 'homepage', fault: unless(isHomepage, 'an https or http URL') }],
  ['plugin.readme', { key: 'readme', fault: unless(isOneLine, 'the path of a file') }],
  ['plugin.publish.guest', { key: 'guest', fault: anId('guest') }],
  ['plugin.publish.note', { key: 'note', fault: unless(isNote, `a note of 1 to ${maxReasonLength} characters`) }],
]);

/** The keys that mean something. */
export const tenonTomlKeys: readonly string[] = [...known.keys()];

const tables = ['plugin', 'plugin.publish'];

/**
 * Reads a `tenon.toml`.
 *
 * @param path what to call it
 * @returns what it says, and warnings: an unknown key, with the nearest known one
 * @throws CliError `invalid_tenon_toml` with line and column
 */
export function parseTenonToml(text: string, path: string): { settings: TenonToml; warnings: string[] } {
  const settings: { -readonly [Key in keyof TenonToml]: string } = {};
  const warnings: string[] = [];
  const say = (keys: readonly string[], what: string) => `${place(path, positionOfKey(text, keys))}: ${what}`;
  const visit = (table: Readonly<Record<string, unknown>>, above: readonly string[]) => {
    for (const [key, value] of Object.entries(table)) {
      const keys = [...above, key];
      const name = keys.join('.');
      const setting = known.get(name);
      if (setting !== undefined) {
        const fault = typeof value === 'string' ? setting.fault(value) : 'text';
        if (fault !== undefined) throw invalid(say(keys, `"${name}" expects ${fault}, and is ${shown(value)}.`));
        settings[setting.key] = value as string;
      } else if (!tables.includes(name)) {
        warnings.push(say(keys, `"${name}" means nothing here${hint(above, key)}`));
      } else if (isTable(value)) {
        visit(value, keys);
      } else {
        throw invalid(say(keys, `"${name}" is a table: write [${name}] above what belongs to it.`));
      }
    }
  };
  visit(parseToml(text, path), []);
  return { settings, warnings };
}

function parseToml(text: string, path: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text, { maxDepth: 20 });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [first = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
    throw invalid(`${place(path, error)}: this is no TOML: ${first}.`);
  }
}

function place(path: string, { line, column }: Position): string {
  return `${path}, line ${line}, column ${column}`;
}

function invalid(message: string): CliError {
  return new CliError('invalid_tenon_toml', message, { exitCode: exitCodes.usage });
}

/** The nearest known key, in this table or another. */
function hint(above: readonly string[], key: string): string {
  const prefix = above.length === 0 ? '' : `${above.join('.')}.`;
  const names = [...known.keys(), ...tables];
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

function isOneLine(text: string): boolean {
  return text.trim() !== '' && text.length <= 4096 && !/[\0-\x1f\x7f-\x9f\u2028\u2029]/.test(text);
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

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !(value instanceof Date) && !Array.isArray(value);
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a table or a date' : String(value);
}

/** The text of a `tenon.toml`. */
export function formatTenonToml({ guest, note, ...plugin }: TenonToml): string {
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
