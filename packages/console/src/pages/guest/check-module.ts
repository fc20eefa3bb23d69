import { type DescribedModule, type ModuleInterface, moduleInterface } from '@tenon/extension-schema/interface-check';
import type { ExtensionPoint } from '@tenon/protocol';
import { byteSizes } from '../../components/byte-size.ts';
import { publishHints } from './publish-hints.ts';

/*
 * Checks of a file before upload. Only a wrong preamble refuses it; all other findings are hints, because the server decides.
 */

/** Why a file can't be published, or the module's imports and exports. */
export type ModuleCheck =
  | { readonly kind: 'refused'; readonly reason: string }
  | {
      readonly kind: 'module';
      /** Whether this browser's engine accepts it. */
      readonly isValid: boolean;
      /** Names of exported functions, in the module's order. */
      readonly exports: readonly string[];
      /** Imported names by module. */
      readonly imports: ReadonlyMap<string, readonly string[]>;
      /** What extension points check; `undefined` if the module could not be parsed. */
      readonly module: ModuleInterface | undefined;
      /** The parse error. */
      readonly fault: string | undefined;
    };

/** The parts of `@tenon/instrument`, and of the engine, that look at modules. */
export interface ModuleReaders {
  describeModule(bytes: Uint8Array): DescribedModule;
  listProposals(bytes: Uint8Array): readonly string[];
  validate(bytes: Uint8Array<ArrayBuffer>): boolean;
}

/** The largest module that is accepted, and whose limit that is. */
export interface LargestModule {
  readonly bytes: number;
  readonly of: 'server' | 'extension point';
}

export function largestModule(serverBytes: number, { limits }: Pick<ExtensionPoint, 'limits'>): LargestModule {
  const own = limits.maxModuleBytes;
  return own !== null && own < serverBytes
    ? { bytes: own, of: 'extension point' }
    : { bytes: serverBytes, of: 'server' };
}

/** Compares a file's size with what is accepted, before the file is read or uploaded. */
export function moduleSizeFault(
  { name, size }: { readonly name: string; readonly size: number },
  largest: LargestModule,
): string | undefined {
  if (size <= largest.bytes) return undefined;
  const [has, most] = byteSizes(size, largest.bytes);
  return `${name} has ${has}. The ${largest.of} accepts modules of up to ${most}. ${publishHints.payload_too_large}`;
}

/** Looks at the preamble alone: https://webassembly.github.io/spec/core/binary/modules.html#binary-module */
export function preambleFault(bytes: Uint8Array): string | undefined {
  const [zero, a, s, m, version, second, layer, last] = bytes;
  if (bytes.length === 0) return 'The file is empty.';
  if (zero !== 0 || a !== 0x61 || s !== 0x73 || m !== 0x6d) {
    return 'This is not a WebAssembly module: modules begin with “\\0asm”. Choose the .wasm file that your compiler created.';
  }
  if (bytes.length < 8) return 'The file is cut off after the first bytes.';
  if (layer === 1) {
    return 'This is a component. Applications here load core modules. Build for a core target, such as wasm32-wasip1 or wasm32-unknown-unknown.';
  }
  if (version !== 1 || second !== 0 || layer !== 0 || last !== 0) return 'This WebAssembly version is not supported.';
  return undefined;
}

export function checkModule(bytes: Uint8Array<ArrayBuffer>, readers: ModuleReaders): ModuleCheck {
  const reason = preambleFault(bytes);
  if (reason !== undefined) return { kind: 'refused', reason };
  const isValid = readers.validate(bytes);
  try {
    const description = readers.describeModule(bytes);
    const functions = description.exports.filter(({ kind }) => kind === 'function').map(({ name }) => name);
    const module = moduleInterface(description, readers.listProposals(bytes), bytes.length);
    const imports = groupImports(description.imports);
    return { kind: 'module', isValid, exports: functions, imports, module, fault: undefined };
  } catch (error) {
    const fault = error instanceof Error ? error.message : 'its structure could not be read';
    return { kind: 'module', isValid, exports: [], imports: new Map(), module: undefined, fault };
  }
}

function groupImports(imports: readonly { readonly module: string; readonly name: string }[]) {
  const groups = new Map<string, string[]>();
  for (const { module, name } of imports) {
    const group = groups.get(module);
    if (group === undefined) groups.set(module, [name]);
    else group.push(name);
  }
  return groups;
}

/** Derives a plugin name from a file name: `target/Median v2.wasm` becomes `Median-v2`. The result may be invalid, for example empty. */
export function pluginNameOf(fileName: string): string {
  return fileName
    .replace(/^.*[/\\]/, '')
    .replace(/\.wasm$/i, '')
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 100)
    .replace(/-+$/, '');
}
