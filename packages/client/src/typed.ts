/// <reference lib="esnext.disposable" preserve="true" />
import { createPlugin, type ExtismPluginOptions, type Manifest, type Plugin } from '@extism/extism';
import { decodeValue, encodeValue, ValueError } from '@tenon/extension-schema/codec';
import { componentsOf } from '@tenon/extension-schema/types';
import type { PluginKey } from './events.ts';
import { loadReported, type PluginSource } from './reported-plugin.ts';

export type { PluginSource } from './reported-plugin.ts';

/* What `tenon bindings generate host` generates code for. */

/** Thrown for an input or output that does not fit the schema. */
export class PluginValueError extends Error {
  override readonly name: string = 'PluginValueError';
  /** The export or import, and its side: `greet.output`. */
  readonly place: string;
  /** Where the value is wrong, as JSON Pointers, and why. */
  readonly faults: readonly { readonly pointer: string; readonly detail: string }[];

  constructor(place: string, { message, faults }: Pick<PluginValueError, 'message' | 'faults'>) {
    super(`${place}${message.startsWith('/') ? ' ' : ': '}${message}`);
    this.place = place;
    this.faults = faults;
  }
}

/** The host functions, which are optional if the schema has no imports. */
type HostFunctions<Imports extends object> = keyof Imports extends never
  ? { readonly hostFunctions?: Imports }
  : { readonly hostFunctions: Imports };

/** Which plugin is called, and how. */
export type TypedPluginOptions<Imports extends object> = HostFunctions<Imports> & {
  readonly extensionPointId?: string | undefined;
  readonly guestKey: string;
  /** Default: the plugin that was bound last. */
  readonly name?: string | undefined;
  /** The options of Extism, such as `useWasi`. Host functions may return promises only with `runInWorker`. */
  readonly extism?: ExtismPluginOptions;
  /** The manifest without the module: `allowedHosts`, `config`, `timeoutMs`, … */
  readonly manifest?: Omit<Manifest, 'wasm'>;
};

/** A function for each export. Closing it frees the instance of the plugin. */
export type TypedPlugin<Exports extends object> = Exports & AsyncDisposable;

interface FunctionSchema {
  readonly input?: unknown;
  readonly output?: unknown;
  readonly 'x-tenon-optional'?: unknown;
}

/** The parts of a schema that matter for calls. */
export interface CallSchema {
  readonly exports: Readonly<Record<string, FunctionSchema>>;
  readonly imports?: Readonly<Record<string, FunctionSchema>>;
  readonly components?: unknown;
}

/** The module of a schema's imports. */
const userModule = 'extism:host/user';

/**
 * Creates an object with a function for each export of a schema. A call loads the bound version, checks and encodes the input, calls the
 * plugin in Extism, and decodes and checks the output. Calls run one after the other in one instance, which is replaced when another
 * version is bound, and after an error. An optional export that the version lacks returns `undefined`.
 */
export function createTypedPlugin<Exports extends object, Imports extends object>(
  client: PluginSource,
  schema: CallSchema,
  options: TypedPluginOptions<Imports>,
): TypedPlugin<Exports> {
  const { extensionPointId, guestKey, name, hostFunctions = {} as Imports, extism, manifest } = options;
  if (extensionPointId === undefined) throw new TypeError('"extensionPointId" is required');
  const key: PluginKey = { extensionPointId, guestKey, name };
  const components = componentsOf(schema);
  const functions = wrapHostFunctions(schema, hostFunctions, extism?.runInWorker === true);
  let current: { readonly module: WebAssembly.Module; readonly plugin: Plugin } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  async function close(): Promise<void> {
    const plugin = current?.plugin;
    current = undefined;
    await plugin?.close();
  }

  async function open(): Promise<Plugin> {
    if (isClosed) throw new Error('The plugin is closed');
    const { module, report } = await loadReported(client, key);
    if (current?.module === module) return current.plugin;
    await close();
    const others = { ...extism?.functions };
    const plugin = await createPlugin(
      { ...manifest, wasm: [{ module }] },
      { ...extism, functions: { ...others, [userModule]: { ...others[userModule], ...functions } } },
    );
    current = { module, plugin: report(plugin) };
    return current.plugin;
  }

  async function call(exported: string, { input, output, ...entry }: FunctionSchema, bytes: Uint8Array) {
    const plugin = await open();
    if (entry['x-tenon-optional'] === true && !(await plugin.functionExists(exported))) return undefined;
    try {
      const result = await plugin.call(exported, bytes);
      if (output === undefined) return undefined;
      return at(`${exported}.output`, () => decodeValue(result?.bytes() ?? new Uint8Array(), output, components));
    } catch (error) {
      await close();
      throw error;
    }
  }

  const plugin = { [Symbol.asyncDispose]: dispose };
  for (const [exported, entry] of Object.entries(schema.exports)) {
    const value = async (input: unknown): Promise<unknown> => {
      const bytes =
        entry.input === undefined
          ? new Uint8Array()
          : at(`${exported}.input`, () => encodeValue(input, entry.input, components));
      const result = last.then(() => call(exported, entry, bytes));
      last = result.catch(() => {});
      return result;
    };
    Object.defineProperty(plugin, exported, { value, enumerable: true });
  }
  return plugin as TypedPlugin<Exports>;

  async function dispose(): Promise<void> {
    isClosed = true;
    await last;
    await close();
  }
}

/** The functions that Extism calls: with offsets of memory blocks. */
type HostFunction = (context: CallContext, offset?: bigint) => bigint | Promise<bigint>;

interface CallContext {
  read(offset: bigint): { bytes(): Uint8Array } | null;
  store(bytes: Uint8Array): bigint;
}

function wrapHostFunctions(
  schema: CallSchema,
  hostFunctions: object,
  isAsync: boolean,
): Readonly<Record<string, HostFunction>> {
  const components = componentsOf(schema);
  const wrapped = Object.entries(schema.imports ?? {}).map(([name, { input, output }]): [string, HostFunction] => {
    const hostFunction: unknown = Object.hasOwn(hostFunctions, name) ? Reflect.get(hostFunctions, name) : undefined;
    if (typeof hostFunction !== 'function') throw new TypeError(`"hostFunctions" has no function "${name}"`);
    const store = (context: CallContext, value: unknown): bigint => {
      if (output === undefined) return 0n;
      const bytes = at(`${name}.output`, () => encodeValue(value, output, components));
      return value === null && bytes.length === 0 ? 0n : context.store(bytes);
    };
    return [
      name,
      (context, offset = 0n) => {
        const bytes = offset === 0n ? new Uint8Array() : (context.read(offset)?.bytes() ?? new Uint8Array());
        const value: unknown =
          input === undefined
            ? Reflect.apply(hostFunction, hostFunctions, [])
            : Reflect.apply(hostFunction, hostFunctions, [
                at(`${name}.input`, () => decodeValue(bytes, input, components)),
              ]);
        if (!(value instanceof Promise)) return store(context, value);
        if (isAsync) return value.then((result) => store(context, result));
        throw new TypeError(`The host function "${name}" returned a promise; set "extism: { runInWorker: true }"`);
      },
    ];
  });
  return Object.fromEntries(wrapped);
}

function at<Result>(place: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof ValueError ? new PluginValueError(place, error) : error;
  }
}
