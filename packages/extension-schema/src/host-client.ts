import { type HostTypesOptions, hostTypes } from './host-types.ts';
import { quote } from './type-text.ts';
import { componentsOf, optionalKey } from './types.ts';
import { isRecord, type Plain, plainCopy } from './value.ts';

/** What generated code imports. */
const runtime = '@tenon/client/typed';

export interface HostClientOptions extends HostTypesOptions {
  /** The extension point that the client calls, unless its caller chooses another. */
  readonly extensionPoint?: { readonly id: string; readonly name: string } | undefined;
}

/**
 * Generates the typed client of an extension point: the types of {@link hostTypes}, and a function that creates a client with
 * `@tenon/client/typed`. The code compiles in strict mode, for any names in the schema.
 *
 * @param schema a schema as the API returns it
 */
export function hostClient(schema: unknown, { source, extensionPoint }: HostClientOptions = {}): string {
  const [header, ...types] = hostTypes(schema, { source }).split('\n');
  const plain = plainCopy(schema, undefined);
  const id = extensionPoint === undefined ? undefined : JSON.stringify(extensionPoint.id);
  const options = `TypedPluginOptions<HostImports>${id === undefined ? ' & { readonly extensionPointId: string }' : ''}`;
  const passed = id === undefined ? 'options' : `{ extensionPointId: ${id}, ...options }`;
  return `${header}
import {
  type CallSchema,
  createTypedPlugin,
  type PluginSource,
  type TypedPlugin,
  type TypedPluginOptions,
} from ${quote(runtime)};
${types.join('\n')}
/** The types of inputs and outputs, which are checked at run time. */
const schema: CallSchema = ${literal(callSchema(isRecord(plain) ? plain : {}))};

/**
 * Calls plugins of the extension point. Inputs and outputs are checked: \`PluginValueError\` has the path of a wrong value. Close the
 * plugin after use: \`await using plugin = …\`, or \`await plugin[Symbol.asyncDispose]()\`.
 *
 * @param client the client that loads the modules
 */
export function ${createName(extensionPoint?.name)}(
  client: PluginSource,
  options: ${options},
): TypedPlugin<PluginExports> {
  return createTypedPlugin<PluginExports, HostImports>(client, schema, ${passed});
}
`;
}

/** Returns the name of the function, such as \`createFormulaFunctions\`. */
function createName(name = 'plugin'): string {
  const words = name.normalize('NFKD').match(/[A-Za-z0-9]+/g) ?? ['Plugin'];
  const made = `create${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}`;
  return made === 'createTypedPlugin' ? `${made}_` : made;
}

/** The parts of a schema that calls need. */
function callSchema({ exports, imports, ...schema }: Plain): Plain {
  const functions = (all: unknown): Plain =>
    mapEntries(all, (entry) => {
      const { input, output, [optionalKey]: optional } = isRecord(entry) ? entry : {};
      return { input: bareType(input), output: bareType(output), [optionalKey]: optional === true ? true : undefined };
    });
  return {
    exports: functions(exports),
    imports: functions(imports),
    components: { schemas: mapEntries(componentsOf(schema), bareType) },
  };
}

/** Copies a type without descriptions. */
function bareType(type: unknown): unknown {
  if (!isRecord(type)) return undefined;
  const { description: _, properties, items, additionalProperties, ...others } = type;
  return {
    ...others,
    properties: properties === undefined ? undefined : mapEntries(properties, bareType),
    items: bareType(items),
    additionalProperties: bareType(additionalProperties),
  };
}

function mapEntries(map: unknown, convert: (entry: unknown) => unknown): Plain {
  const copy: Plain = Object.create(null);
  for (const [name, entry] of Object.entries(isRecord(map) ? map : {})) copy[name] = convert(entry);
  return copy;
}

/** JSON is JavaScript, except for a key that sets the prototype. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .replace(/^(\s*)"__proto__":/gm, '$1["__proto__"]:')
    .replace(/[\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`);
}
