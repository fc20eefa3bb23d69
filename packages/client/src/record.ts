import type { ExtismPluginOptions, Plugin } from '@extism/extism';
import { type Redact, redactValue } from './redact.ts';

export type { Redact } from './redact.ts';

/** A text or bytes. */
export type RecordedMemory = string | { readonly base64: string };

/** A parameter or result of a host function. */
export type RecordedValue = number | { readonly i64: string } | RecordedMemory;

/** One call of a plugin, as `tenon plugin test --fixtures` and simulations of the server repeat it. */
export interface RecordedFixture {
  readonly export: string;
  readonly input?: string;
  readonly inputBase64?: string;
  readonly expect: { readonly equals: RecordedMemory } | { readonly fails: string | true };
  readonly hostCalls?: readonly RecordedHostCall[];
}

export interface RecordedHostCall {
  readonly name: string;
  readonly args?: readonly RecordedValue[];
  readonly returns?: RecordedValue;
}

export interface RecorderOptions {
  /** Default: every value is recorded as it is. */
  readonly redact?: Redact;
  /** The maximum number of calls. Default: 1,000, as many as a simulation may have. */
  readonly maxCalls?: number;
  /** The maximum size of one input, output, argument or result. Calls with larger ones are left out. Default: 64 KiB. */
  readonly maxValueBytes?: number;
}

type HostFunctions = NonNullable<ExtismPluginOptions['functions']>;

/** Records calls of plugins as fixtures. */
export interface Recorder {
  /**
   * Creates a plugin whose calls are recorded.
   *
   * @param create gets the host functions, which it passes on to Extism
   */
  record(create: (functions: HostFunctions) => Promise<Plugin>, functions?: HostFunctions): Promise<Plugin>;
  /** The calls, in order. Equal ones are recorded once. `JSON.stringify()` them into a file for `tenon plugin test --fixtures`. */
  readonly fixtures: readonly RecordedFixture[];
  /** The number of calls that were left out: too large, too many, redacted, or not repeatable. */
  readonly skippedCalls: number;
}

/** Thrown inside of the recorder for a call that is left out. */
class Unrecordable extends Error {}

/**
 * Creates a recorder, which turns a host's calls into fixtures.
 *
 * ```ts
 * const recorder = createRecorder({ redact: (value, path) => (path.endsWith('/email') ? 'ada@example.org' : value) });
 * const plugin = await recorder.record((functions) => createExtismPlugin(client, key, { functions }), functions);
 * await plugin.call('greet', 'Ada');
 * await writeFile('fixtures.json', JSON.stringify(recorder.fixtures, null, 2));
 * ```
 */
export function createRecorder(options: RecorderOptions = {}): Recorder {
  const { redact, maxCalls = 1000, maxValueBytes = 64 * 1024 } = options;
  const fixtures = new Map<string, RecordedFixture>();
  let skippedCalls = 0;

  const bytesValue = (bytes: Uint8Array, path: string): RecordedMemory => {
    if (bytes.length > maxValueBytes) throw new Unrecordable();
    const value = redactValue(textOf(bytes) ?? bytes, path, redact);
    if (typeof value === 'string') return value;
    if (value instanceof Uint8Array) return textOf(value) ?? { base64: toBase64(value) };
    throw new Unrecordable();
  };

  const add = (make: () => RecordedFixture): void => {
    try {
      const fixture = make();
      const key = JSON.stringify(fixture);
      if (!fixtures.has(key) && fixtures.size >= maxCalls) throw new Unrecordable();
      fixtures.set(key, fixture);
    } catch {
      // A fault of the recorder, or of `redact`, fails no call of the host.
      skippedCalls += 1;
    }
  };

  async function record(create: (functions: HostFunctions) => Promise<Plugin>, functions: HostFunctions = {}) {
    let hostCalls: (() => RecordedHostCall)[] = [];
    const plugin = await create(wrapFunctions(functions, (call) => hostCalls.push(call), { bytesValue, redact }));
    const call: Plugin['call'] = async (name, input) => {
      hostCalls = [];
      const output = await plugin.call(name, input).catch((error: unknown) => {
        const calls = hostCalls;
        add(() => fixtureOf(name, input, { fails: redactedError(error, redact) }, calls));
        throw error;
      });
      // The bytes are a view of the plugin's memory, which the next call overwrites.
      const bytes = Uint8Array.from(output?.bytes() ?? []);
      const calls = hostCalls;
      add(() => fixtureOf(name, input, { equals: bytesValue(bytes, '/output') }, calls));
      return output;
    };
    return new Proxy(plugin, {
      get(target, property) {
        if (property === 'call') return call;
        const value: unknown = Reflect.get(target, property);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  function fixtureOf(
    name: string | [string, string],
    input: string | number | Uint8Array | undefined,
    expect: RecordedFixture['expect'],
    hostCalls: readonly (() => RecordedHostCall)[],
  ): RecordedFixture {
    const bytes = input instanceof Uint8Array ? input : new TextEncoder().encode(String(input ?? ''));
    const value = bytesValue(bytes, '/input');
    return {
      export: typeof name === 'string' ? name : name[1],
      ...(typeof value === 'string' ? { input: value } : { inputBase64: value.base64 }),
      expect,
      ...(hostCalls.length > 0 && { hostCalls: hostCalls.map((call) => call()) }),
    };
  }

  return {
    record,
    get fixtures() {
      return [...fixtures.values()];
    },
    get skippedCalls() {
      return skippedCalls;
    },
  };
}

function redactedError(error: unknown, redact: Redact | undefined): string | true {
  // Only what the plugin itself reports is the same in every host.
  const [, message] = /^Plugin-originated error: (.+)$/s.exec(error instanceof Error ? error.message : '') ?? [];
  if (message === undefined) return true;
  const value = redactValue(message, '/error', redact);
  if (typeof value !== 'string') throw new Unrecordable();
  return value;
}

interface ValueReader {
  readonly bytesValue: (bytes: Uint8Array, path: string) => RecordedMemory;
  readonly redact: Redact | undefined;
}

/** Copies what host functions get and return. Redaction and checks follow after the plugin's call. */
function wrapFunctions(
  functions: HostFunctions,
  onCall: (call: () => RecordedHostCall) => void,
  { bytesValue, redact }: ValueReader,
): HostFunctions {
  const value = (found: unknown, path: string): RecordedValue => {
    if (found instanceof Uint8Array) return bytesValue(found, path);
    const redacted = redactValue(found, path, redact);
    if (typeof redacted === 'bigint') return { i64: String(redacted) };
    // JSON has no NaN and no infinities: fixtures have them as texts.
    if (typeof redacted === 'number') return Number.isFinite(redacted) ? redacted : String(redacted);
    throw new Unrecordable();
  };
  const wrap = (name: string, call: HostFunctions[string][string]): HostFunctions[string][string] => {
    return (context, ...args) => {
      const values = args.map((each) => memoryOr(context, each));
      let result: unknown;
      let hasReturned = false;
      onCall(() => {
        // A host function that throws ends the plugin's call, which fixtures can't repeat.
        if (!hasReturned) throw new Unrecordable();
        return {
          name,
          args: values.map((each, at) => value(each, `/hostCalls/${name}/args/${at}`)),
          ...(result !== undefined && { returns: value(result, `/hostCalls/${name}/returns`) }),
        };
      });
      const settle = (returned: unknown) => {
        hasReturned = true;
        result = memoryOr(context, returned);
        return returned;
      };
      const returned: unknown = call(context, ...args);
      return returned instanceof Promise ? returned.then(settle) : settle(returned);
    };
  };
  return Object.fromEntries(
    Object.entries(functions).map(([module, members]) => [
      module,
      Object.fromEntries(Object.entries(members).map(([name, call]) => [name, wrap(name, call)])),
    ]),
  );
}

/**
 * The bytes of the block of memory at an address, or else the value itself. Extism's addresses have the number of a block, from 1 on,
 * above 48 bits of an offset.
 */
function memoryOr(context: Parameters<HostFunctions[string][string]>[0], value: unknown): unknown {
  if (typeof value !== 'bigint' || value < 1n << 48n || BigInt.asUintN(48, value) !== 0n) return value;
  const block = context.read(value);
  return block === null ? value : Uint8Array.from(block.bytes());
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
