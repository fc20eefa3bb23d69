import { docComment, fieldName, fieldsText, nameTypes, type TypeScope, typeText } from './type-text.ts';
import { componentsOf, contentTypeOf, contentTypes, optionalKey, resolveType } from './types.ts';
import { isRecord, type Plain, plainCopy } from './value.ts';

export interface HostTypesOptions {
  /** The source of the schema, for the header of the generated file. */
  readonly source?: string | undefined;
}

const [, , binary] = contentTypes;

/**
 * Generates the TypeScript that a host needs to call plugins of an extension point: an interface for each component, one for all exports,
 * and one for all imports. The code compiles in strict mode without other files, for any names in the schema.
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
    functionsText(scope, 'PluginExports', 'What a plugin exports, and the application calls.', exports, exportResult),
    functionsText(
      scope,
      'HostImports',
      'What a plugin may import, and the application provides.',
      imports,
      importResult,
    ),
  ];
  return parts.join('\n');
}

/** An optional export that the plugin lacks returns `undefined`. */
function exportResult(output: string, isOptional: boolean): string {
  return `Promise<${isOptional && output !== 'void' ? `${output} | undefined` : output}>`;
}

function importResult(output: string): string {
  return `${output} | Promise<${output}>`;
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

function functionsText(
  scope: TypeScope,
  name: string,
  what: string,
  functions: readonly [string, Plain][],
  resultOf: (output: string, isOptional: boolean) => string,
): string {
  const members = functions.map(([functionName, entry]) => {
    const parameter = entry.input === undefined ? '' : `input: ${parameterText(scope, entry.input)}`;
    const output = entry.output === undefined ? 'void' : parameterText(scope, entry.output);
    const result = resultOf(output, entry[optionalKey] === true);
    const comment = docComment(functionComment(entry), '  ');
    return `${comment}  ${fieldName(functionName)}: (${parameter}) => ${result};\n`;
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
  if (contentTypeOf(parameter, scope.components) !== binary) return typeText(scope, parameter, '  ');
  const types = [parameter, resolveType(parameter, scope.components)];
  const isNullable = types.some((type) => isRecord(type) && type.nullable === true);
  return isNullable ? 'Uint8Array | null' : 'Uint8Array';
}
