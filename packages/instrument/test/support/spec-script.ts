import fs from 'node:fs';
import path from 'node:path';
import { callWithVectors, vectorOf } from './vector-call.ts';

interface Value {
  readonly type: string;
  /** Of a vector, the lanes. */
  readonly value?: string | readonly string[];
  readonly lane_type?: string;
  /** Of the type `either`: what is allowed. */
  readonly values?: readonly Value[];
}

interface Action {
  readonly type: 'invoke' | 'get';
  readonly module?: string;
  readonly field: string;
  readonly args?: readonly Value[];
}

/** One command of `out.json`, the form into which the specification's scripts are commonly converted. */
interface Command {
  readonly type: string;
  readonly line: number;
  readonly name?: string;
  readonly as?: string;
  readonly filename?: string;
  readonly action?: Action;
  readonly expected?: readonly Value[];
}

/** What differs between two runs of one script. */
export interface Engine {
  /** The bytes that are compiled in place of a module's. */
  readonly transform: (bytes: Uint8Array) => Uint8Array;
  readonly imports: WebAssembly.Imports;
  /** Called after every command, with whether it ended in a trap or an error of the host. */
  readonly afterCommand: (where: string, wasCutShort: boolean) => void;
}

/** Runs a script, and returns for each command what came of it, as text, so that two runs can be compared. */
export function runScript(folder: string, engine: Engine): string[] {
  const { commands } = JSON.parse(fs.readFileSync(path.join(folder, 'out.json'), 'utf8')) as { commands: Command[] };
  const registered: WebAssembly.Imports = { spectest: spectest() };
  const named = new Map<string | undefined, WebAssembly.Exports>();

  const instantiate = (filename: string): WebAssembly.Exports => {
    const bytes = new Uint8Array(fs.readFileSync(path.join(folder, filename)));
    // Throws the engine's own error for what does not validate, before the bytes are touched.
    new WebAssembly.Module(bytes);
    const module = new WebAssembly.Module(new Uint8Array(engine.transform(bytes)));
    return new WebAssembly.Instance(module, { ...registered, ...engine.imports }).exports;
  };
  const perform = ({ type, module, field, args = [] }: Action, expected: readonly Value[] = []): unknown => {
    const item = named.get(module)?.[field];
    if (type === 'get') return (item as WebAssembly.Global).value;
    const params = args.map(typeOf);
    const results = expected.map(typeOf);
    if (params.includes('v128') || results.includes('v128')) {
      return callWithVectors(item, params, args.map(toJs), results[0]);
    }
    return (item as (...args: unknown[]) => unknown)(...args.map(toJs));
  };
  const execute = (command: Command): unknown => {
    const { type, name, as, filename, action, expected } = command;
    if (action !== undefined) return perform(action, expected);
    if (type === 'register') {
      const exports = named.get(name);
      if (as !== undefined && exports !== undefined) registered[as] = exports as WebAssembly.Imports[string];
    } else if (filename?.endsWith('.wasm')) {
      if (type === 'module') named.set(undefined, {});
      const exports = instantiate(filename);
      if (type !== 'module') return undefined;
      named.set(undefined, exports);
      if (name !== undefined) named.set(name, exports);
    }
    return undefined;
  };

  return commands.map((command) => {
    const where = `${path.basename(folder)}:${command.line} ${command.type}`;
    const { outcome, wasCutShort } = describeOutcome(() => execute(command));
    engine.afterCommand(where, wasCutShort);
    return `${where}: ${outcome}`;
  });
}

function describeOutcome(execute: () => unknown): { outcome: string; wasCutShort: boolean } {
  try {
    return { outcome: describeValue(execute()), wasCutShort: false };
  } catch (error) {
    if (error instanceof WebAssembly.Exception) return { outcome: 'an exception', wasCutShort: false };
    // A message of the compiler or the linker tells an offset or the number of the import, which may differ.
    const isTrap = error instanceof WebAssembly.RuntimeError;
    return { outcome: isTrap ? `trap: ${error.message}` : (error as Error).constructor.name, wasCutShort: true };
  }
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(describeValue).join()}]`;
  if (Object.is(value, -0)) return '-0';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return 'extern' in value ? `extern ${value.extern}` : 'a reference';
  return String(value);
}

function typeOf({ type, values }: Value): string {
  return values?.[0]?.type ?? type;
}

/** An argument, as JavaScript hands it over; a vector as its halves. */
function toJs({ type, value = '0', lane_type = '' }: Value): unknown {
  if (typeof value !== 'string') return vectorOf(lane_type, value);
  const word = new DataView(new ArrayBuffer(8));
  switch (type) {
    case 'i32':
      return Number(value) | 0;
    case 'i64':
      return BigInt.asIntN(64, BigInt(value));
    case 'f32':
      word.setUint32(0, Number(value));
      return value.startsWith('nan') ? Number.NaN : word.getFloat32(0);
    case 'f64':
      if (value.startsWith('nan')) return Number.NaN;
      word.setBigUint64(0, BigInt(value));
      return word.getFloat64(0);
    default:
      return value === 'null' ? null : { extern: value };
  }
}

/** The host module that the scripts expect. https://github.com/WebAssembly/spec/tree/main/interpreter#spectest-host-module */
function spectest(): WebAssembly.Imports[string] {
  const ignore = () => {};
  return {
    print: ignore,
    print_i32: ignore,
    print_i64: ignore,
    print_f32: ignore,
    print_f64: ignore,
    print_i32_f32: ignore,
    print_f64_f64: ignore,
    global_i32: new WebAssembly.Global({ value: 'i32' }, 666),
    global_i64: new WebAssembly.Global({ value: 'i64' }, 666n),
    global_f32: new WebAssembly.Global({ value: 'f32' }, 666.6),
    global_f64: new WebAssembly.Global({ value: 'f64' }, 666.6),
    table: new WebAssembly.Table({ initial: 10, maximum: 20, element: 'anyfunc' }),
    memory: new WebAssembly.Memory({ initial: 1, maximum: 2 }),
  };
}
