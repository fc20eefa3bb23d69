import { type InstrumentOptions, type InstrumentReport, instrument } from '../../src/index.ts';
import { createTrace, functionNames, type Trace } from './trace.ts';

type Exports = Record<string, (...args: unknown[]) => unknown>;

export interface TracedInstance {
  readonly bytes: Uint8Array;
  readonly report: InstrumentReport;
  readonly exports: Exports;
  readonly all: WebAssembly.Exports;
  readonly trace: Trace;
  readonly names: Map<number, string>;
  /** Events with the names of the functions, and forgets them. */
  readonly takeEvents: () => string[];
}

/** Instruments and instantiates; the input and the output must both validate. */
export function runTraced(
  input: Uint8Array,
  imports: WebAssembly.Imports = {},
  options: InstrumentOptions = {},
): TracedInstance {
  // Compiling says why where validating would say no.
  new WebAssembly.Module(new Uint8Array(input));
  const { bytes, report } = instrument(input, options);
  const trace = createTrace();
  const module = new WebAssembly.Module(new Uint8Array(bytes));
  const instance = new WebAssembly.Instance(module, { ...imports, ...trace.imports });
  const names = functionNames(bytes);
  const takeEvents = () =>
    trace.events.splice(0).map((event) => {
      const [kind, argument] = event.split(' ') as [string, string];
      return kind === 'grow' ? event : `${kind} ${names.get(Number(argument))}`;
    });
  return { bytes, report, exports: instance.exports as Exports, all: instance.exports, trace, names, takeEvents };
}
