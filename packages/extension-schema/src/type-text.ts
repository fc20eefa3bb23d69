import { isIdentifier } from './check.ts';
import { referencedName, resolveType, type Union, unionOf } from './types.ts';
import { isRecord, type Plain } from './value.ts';

/* Generates TypeScript for the types of a schema. */

/** Names that no generated type may have: reserved words, and other names in the generated code. */
const reservedNames =
  'any as asserts async await bigint boolean break case catch class const continue debugger declare default delete do else ' +
  'enum export extends false finally for function if implements import in infer instanceof interface intrinsic is keyof let ' +
  'module namespace never new null number object of package private protected public readonly return satisfies static string ' +
  'super switch symbol this throw true try type typeof undefined unique unknown var void while with yield ' +
  'Uint8Array Promise PluginExports HostImports CallSchema createTypedPlugin PluginSource TypedPlugin TypedPluginOptions';

/** Gives every component a valid and unique TypeScript name: its own name if possible. Returns them by component name. */
export function nameTypes(components: Plain): ReadonlyMap<string, string> {
  const taken = new Set(reservedNames.split(' '));
  const names = new Map<string, string>();
  const isFree = (name: string) => isIdentifier(name) && !taken.has(name);
  for (const name of Object.keys(components)) {
    if (!isFree(name)) continue;
    names.set(name, name);
    taken.add(name);
  }
  for (const name of Object.keys(components)) {
    if (names.has(name)) continue;
    let made = name.replace(/[^A-Za-z0-9_$]/g, '_').replace(/^(?![A-Za-z_$])/, '_');
    while (!isFree(made)) made += '_';
    names.set(name, made);
    taken.add(made);
  }
  return names;
}

/** Returns a property name, quoted if it is not an identifier. */
export function fieldName(name: string): string {
  return isIdentifier(name) ? name : quote(name);
}

/** Returns a string literal. */
export function quote(text: string): string {
  const json = JSON.stringify(text);
  return /['\\]/.test(json) ? json : `'${json.slice(1, -1)}'`;
}

/** Returns a doc comment with a trailing line break; empty for an empty text. */
export function docComment(text: unknown, indent = ''): string {
  if (typeof text !== 'string' || text.trim() === '') return '';
  const lines = text
    .trim()
    .replaceAll('*/', '*\\/')
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => line.trimEnd());
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  const body = lines.map((line) => (line === '' ? `${indent} *` : `${indent} * ${line}`)).join('\n');
  return `${indent}/**\n${body}\n${indent} */\n`;
}

/** The components to which types refer, and their TypeScript names. */
export interface TypeScope {
  readonly components: Plain;
  readonly names: ReadonlyMap<string, string>;
}

/** Returns the TypeScript type of a value in JSON. */
export function typeText(scope: TypeScope, type: unknown, indent = ''): string {
  const bare = bareTypeText(scope, type, indent);
  return isRecord(type) && type.nullable === true && bare !== 'unknown' ? `${bare} | null` : bare;
}

function bareTypeText(scope: TypeScope, type: unknown, indent: string): string {
  if (!isRecord(type)) return 'unknown';
  if (Object.hasOwn(type, '$ref')) {
    const name = referencedName(type, scope.components);
    const isResolvable = name !== undefined && resolveType(type, scope.components) !== undefined;
    return (isResolvable ? scope.names.get(name) : undefined) ?? 'unknown';
  }
  if (Array.isArray(type.enum)) return enumText(type.enum);
  const union = unionOf(type, scope.components);
  if (union !== undefined) return unionText(scope, union);
  if (isRecord(type.properties)) return fieldsText(scope, type, indent);
  if (type.additionalProperties !== undefined) {
    return `{ [name: string]: ${typeText(scope, type.additionalProperties, indent)} }`;
  }
  if (type.items !== undefined) return listText(typeText(scope, type.items, indent));
  if (type.type === 'integer' && /^u?int64$/.test(String(type.format))) return 'bigint';
  return simpleTypes[String(type.type)] ?? 'unknown';
}

const simpleTypes: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  object: '{ [name: string]: unknown }',
  array: 'unknown[]',
  buffer: 'Uint8Array',
});

function enumText(values: readonly unknown[]): string {
  const literals = values.flatMap((value) => (typeof value === 'string' ? [quote(value)] : []));
  return literals.length === 0 || literals.length < values.length ? 'unknown' : [...new Set(literals)].join(' | ');
}

function unionText({ names }: TypeScope, { variants }: Union): string {
  const made = variants.flatMap(({ name }) => names.get(name) ?? []);
  return made.length === 0 ? 'unknown' : [...new Set(made)].join(' | ');
}

function listText(item: string): string {
  return /^[\w$]+$/.test(item) ? `${item}[]` : `(${item})[]`;
}

/** Returns an object type with one field per line. */
export function fieldsText(scope: TypeScope, { properties, required }: Plain, indent: string): string {
  const requiredNames = new Set<unknown>(Array.isArray(required) ? required : []);
  const inner = `${indent}  `;
  const fields = Object.entries(isRecord(properties) ? properties : {}).map(([name, type]) => {
    const comment = docComment(fieldComment(type), inner);
    const mark = requiredNames.has(name) ? '' : '?';
    return `${comment}${inner}${fieldName(name)}${mark}: ${typeText(scope, type, inner)};\n`;
  });
  return fields.length === 0 ? '{}' : `{\n${fields.join('')}${indent}}`;
}

/** Notes on formats that the TypeScript type does not express. */
const formatNotes: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  'date-time': 'A date and time (RFC 3339).',
  byte: 'Bytes in base64.',
});

function fieldComment(type: unknown): string {
  if (!isRecord(type)) return '';
  const note = formatNotes[String(type.format)];
  const description = typeof type.description === 'string' ? type.description.trimEnd() : '';
  return [description, note].filter((part) => part !== undefined && part !== '').join('\n\n');
}
