import { docComment, fieldName, fieldsText, nameTypes, quote, type TypeScope, typeText } from './type-text.ts';
import { componentsOf, contentTypeOf, contentTypes, optionalKey, resolveType } from './types.ts';
import { isRecord, type Plain, plainCopy } from './value.ts';

export interface HostTypesOptions {
  /** The source of the schema, for the header of the generated file. */
  readonly source?: string | undefined;
}

const [, json, binary] = contentTypes;

/**
 * Generates the TypeScript that a host needs to call plugins of an extension point: an interface for each component, one for all exports,
 * one for all imports, and a constant with the content types of inputs and outputs. The code compiles in strict mode without other
 * files, for any names in the schema.
 *
 * @param schema a schema as the API returns it; invalid parts are skipped
 */
export function hostTypes(schema: unknown, { source }: HostTypesOptions = {}): string {
  const copy = plainCopy(schema, undefined);
  const root = isRecord(copy) ? copy : {};
  const components = componentsOf(root);
  const scope: TypeScope = { components, names: nameTypes(components) };
  const exports = functionsOf(root.exports);
  const imports = functionsOf(root.imports);
  const parts = [
    `// Made by \`tenon bindings generate host\`${source === undefined ? '' : ` from ${oneLine(source)}`}. Generate it again instead of editing it.\n`,
    ...Object.keys(components).map((name) => componentText(scope, name)),
    functionsText(scope, 'PluginExports', 'What a plugin exports, and the application calls.', exports),
    functionsText(scope, 'HostImports', 'What a plugin may import, and the application provides.', imports),
    contentTypesText(scope, exports, imports),
  ];
  return parts.join('\n');
}

/** Returns the exports or imports of a schema, which may be a map or a list. */
function functionsOf(functions: unknown): [name: string, entry: Plain][] {
  const entries = Array.isArray(functions)
    ? functions.map((item): [unknown, unknown] => (isRecord(item) ? [item.name, item] : [item, {}]))
    : Object.entries(isRecord(functions) ? functions : {});
  const byName = new Map<string, Plain>();
  for (const [name, entry] of entries) if (typeof name === 'string') byName.set(name, isRecord(entry) ? entry : {});
  return [...byName];
}

function oneLine(text: string): string {
  return text.replace(/[\0-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ');
}

function componentText(scope: TypeScope, name: string): string {
  const component = scope.components[name];
  const typeName = scope.names.get(name) as string;
  const comment = docComment(isRecord(component) ? component.description : undefined);
  const isInterface =
    isRecord(component) &&
    isRecord(component.properties) &&
    component.nullable !== true &&
    !Object.hasOwn(component, '$ref') &&
    !Array.isArray(component.enum);
  return isInterface
    ? `${comment}export interface ${typeName} ${fieldsText(scope, component, '')}\n`
    : `${comment}export type ${typeName} = ${typeText(scope, component)};\n`;
}

function functionsText(scope: TypeScope, name: string, what: string, functions: readonly [string, Plain][]): string {
  const members = functions.map(([functionName, entry]) => {
    const parameter = entry.input === undefined ? '' : `input: ${parameterText(scope, entry.input)}`;
    const result = entry.output === undefined ? 'void' : parameterText(scope, entry.output);
    const comment = docComment(functionComment(entry), '  ');
    const mark = entry[optionalKey] === true ? '?' : '';
    return `${comment}  ${fieldName(functionName)}${mark}: (${parameter}) => ${result};\n`;
  });
  return `${docComment(what)}export interface ${name} {${members.length === 0 ? '' : `\n${members.join('')}`}}\n`;
}

function functionComment({ description, input, output }: Plain): string {
  const described = (parameter: unknown) =>
    isRecord(parameter) && typeof parameter.description === 'string' ? parameter.description.trim() : '';
  const tags = [
    described(input) === '' ? '' : `@param input ${described(input)}`,
    described(output) === '' ? '' : `@returns ${described(output)}`,
  ].filter((tag) => tag !== '');
  const text = typeof description === 'string' ? description.trim() : '';
  return [text, tags.join('\n')].filter((part) => part !== '').join('\n\n');
}

/** The type of a decoded input or output. */
function parameterText(scope: TypeScope, parameter: unknown): string {
  const nullable = isRecord(parameter) && parameter.nullable === true ? ' | null' : '';
  const contentType = contentTypeOf(parameter, scope.components);
  if (contentType === binary) return `Uint8Array${nullable}`;
  if (contentType === json) return typeText(scope, parameter, '  ');
  const target = resolveType(parameter, scope.components);
  const isEnum = isRecord(target) && Array.isArray(target.enum);
  return isEnum ? typeText(scope, parameter, '  ') : `string${nullable}`;
}

function contentTypesText(
  scope: TypeScope,
  exports: readonly [string, Plain][],
  imports: readonly [string, Plain][],
): string {
  const side = (parameter: unknown) =>
    parameter === undefined ? 'null' : quote(contentTypeOf(parameter, scope.components));
  const table = (functions: readonly [string, Plain][]) => {
    const rows = functions.map(
      ([name, { input, output }]) => `    ${valueKey(name)}: { input: ${side(input)}, output: ${side(output)} },\n`,
    );
    return rows.length === 0 ? '{}' : `{\n${rows.join('')}  }`;
  };
  const comment = docComment(
    'How input and output travel: the content type of the bytes, or `null` where there are none.',
  );
  return `${comment}export const contentTypes = {\n  exports: ${table(exports)},\n  imports: ${table(imports)},\n} as const;\n`;
}

/** Returns a property name for an object literal, where `__proto__` would set the prototype. */
function valueKey(name: string): string {
  return name === '__proto__' ? "['__proto__']" : fieldName(name);
}
