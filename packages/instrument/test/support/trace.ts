import assert from 'node:assert/strict';

/** Counts what an instrumented module reports, and checks that calls nest. */
export interface Trace {
  /** For the import object of the instrumented module. */
  readonly imports: { readonly [module: string]: Record<string, (argument: number) => void> };
  /** `enter 3`, `exit 3`, `grow 1`, in their order; only the first `maxEvents`. */
  readonly events: string[];
  /** Calls by function index in the instrumented module. */
  readonly calls: Map<number, number>;
  /** Functions that were entered and not left, outermost first. */
  readonly open: number[];
  /** Arguments of `memory-grow`. */
  readonly growths: number[];
  /** Calls that were found open when one around them was left: the host unwound them. */
  readonly leftByHost: () => number;
  /** Fails unless every call that was entered was left, in order. */
  readonly assertBalanced: () => void;
}

/** `resynchronises`: an exit leaves what is open inside of it, too, as adapters do after a trap or an exception of the host. */
export function createTrace(maxEvents = 1_000, resynchronises = false): Trace {
  const events: string[] = [];
  const calls = new Map<number, number>();
  const open: number[] = [];
  const growths: number[] = [];
  const faults: string[] = [];
  let leftByHost = 0;
  const record = (event: string) => {
    if (events.length < maxEvents) events.push(event);
  };
  const hooks = {
    enter(index: number) {
      record(`enter ${index}`);
      calls.set(index, (calls.get(index) ?? 0) + 1);
      open.push(index);
    },
    exit(index: number) {
      record(`exit ${index}`);
      const place = resynchronises ? open.lastIndexOf(index) : -1;
      if (place !== -1) {
        leftByHost += open.length - 1 - place;
        open.length = place + 1;
      }
      const innermost = open.pop();
      if (innermost !== index && faults.length < 10) faults.push(`exit ${index} while ${innermost} was innermost`);
    },
    'memory-grow'(pages: number) {
      record(`grow ${pages}`);
      growths.push(pages);
    },
  };
  return {
    imports: { 'dylibso:observe/instrument': hooks },
    events,
    calls,
    open,
    growths,
    leftByHost: () => leftByHost,
    assertBalanced() {
      assert.deepEqual(faults, []);
      assert.deepEqual(open, []);
    },
  };
}

/** The function names in the `name` section, by function index. */
export function functionNames(bytes: Uint8Array): Map<number, string> {
  const names = new Map<number, string>();
  const [section] = WebAssembly.Module.customSections(new WebAssembly.Module(new Uint8Array(bytes)), 'name');
  if (section === undefined) return names;
  const view = new Uint8Array(section);
  let at = 0;
  const leb = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = view[at++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < view.length) {
    const id = view[at++];
    const end = leb() + at;
    if (id === 1) {
      for (let count = leb(); count > 0; count--) {
        const index = leb();
        const length = leb();
        names.set(index, new TextDecoder().decode(view.subarray(at, at + length)));
        at += length;
      }
    }
    at = end;
  }
  return names;
}
