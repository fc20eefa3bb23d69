/** A call in a stack, or a call that the compiler replaced by the function's code. */
export interface StackFrame {
  /** The function's name; `func[INDEX]` without one. */
  readonly function: string;
  readonly file?: string;
  /** 0: the compiler made this code for no line. */
  readonly line?: number;
  /** 0: not known. */
  readonly column?: number;
}

/** Where the code of a module comes from. */
export interface RunSources {
  readonly functionSource: (functionIndex: number) => { readonly file: string; readonly line: number } | undefined;
  /** The source of an instruction by its offset in the module; inlined calls come innermost first. */
  readonly locate: (
    offset: number,
  ) => readonly { readonly file: string; readonly line: number; readonly column: number; readonly function?: string }[];
}

/** Frames of engines' stacks that are shown. */
const maxFrames = 50;

/** Names come from modules and may be very long. */
const maxNameLength = 300;

/**
 * The WebAssembly frames of an error's stack with their sources, innermost first. Empty without sources.
 *
 * V8 writes `at name (wasm://wasm/hash:wasm-function[8]:0x1b4)`, SpiderMonkey `name@url:wasm-function[8]:0x1b4`.
 */
export function sourceStack(
  thrown: unknown,
  sources: RunSources | undefined,
  demangle: (name: string) => string,
): readonly StackFrame[] {
  if (sources === undefined || !(thrown instanceof Error) || typeof thrown.stack !== 'string') return [];
  const frames: StackFrame[] = [];
  let isLocated = false;
  for (const line of thrown.stack.split('\n')) {
    const found = /:wasm-function\[(\d+)\]:0x([0-9a-f]{1,8})\)?$/.exec(line);
    if (found === null || frames.length >= maxFrames) continue;
    const located = sources.locate(Number.parseInt(found[2] as string, 16));
    const nameOf = () => nameIn(line) || `func[${found[1]}]`;
    if (located.length === 0) frames.push({ function: shown(nameOf(), demangle) });
    isLocated ||= located.length > 0;
    for (const { function: name, ...place } of located) {
      frames.push({ function: shown(name ?? nameOf(), demangle), ...place });
    }
  }
  return isLocated ? frames.slice(0, maxFrames) : [];
}

/** Lines of a stack as V8 writes them: `at parse (/src/parse.c:42:7)`. */
export function stackLines(stack: readonly StackFrame[]): string[] {
  return stack.map((frame) => {
    const { function: name, file } = frame;
    return file === undefined ? `at ${name}` : `at ${name} (${placeText(frame)})`;
  });
}

/** A file with what is known of the line and column: `/src/parse.c:42:7`. */
export function placeText({ file = '', line = 0, column = 0 }: StackFrame): string {
  return [file, ...[line, column].slice(0, line === 0 ? 0 : column === 0 ? 1 : 2)].join(':');
}

/** What comes before the module's URL. */
function nameIn(line: string): string {
  const end = Math.max(line.lastIndexOf(' (wasm://'), line.lastIndexOf('@'));
  return end === -1 ? '' : line.slice(0, end).replace(/^\s*at /, '');
}

function shown(name: string, demangle: (name: string) => string): string {
  return demangle(name).slice(0, maxNameLength);
}
