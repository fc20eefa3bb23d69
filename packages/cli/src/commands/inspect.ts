import {
  compareModules,
  describeModule,
  type FunctionSignature,
  isInstrumented,
  listProposals,
  listSections,
  type MemoryDescription,
  type ModuleDescription,
  type Proposal,
  type SectionDescription,
} from '@tenon/instrument';
import { findDebugInfo } from '@tenon/instrument/debug-info';
import { type Command, withJson } from '../command.ts';
import { showComparison } from '../comparison.ts';
import { readInput } from '../files.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { count, formatNumber, formatSize, printable } from '../text.ts';
import { refusing } from '../tracing-options.ts';

interface Inspected extends ModuleDescription {
  readonly bytes: number;
  readonly isInstrumented: boolean;
  /** Whether a name section names its functions. */
  readonly hasNames: boolean;
  readonly debugInfo: InspectedDebugInfo;
  readonly features: readonly Proposal[];
  readonly sections: readonly SectionDescription[];
}

interface InspectedDebugInfo {
  /** The size of the DWARF sections. */
  readonly dwarfBytes: number;
  /** Where the source map is; of a `data:` URL, the part before the map. */
  readonly sourceMapUrl: string | null;
  /** The file with the DWARF sections. */
  readonly debugFileUrl: string | null;
}

export function addInspectCommand(program: Command, io: Io): void {
  program
    .command('inspect')
    .argument('<module>', 'a compiled module; "-" reads stdin')
    .description('show what a module imports, exports and needs, its sizes, and whether it is instrumented')
    .option('--against <module>', 'show the differences from this earlier module instead')
    .use(withJson)
    .examples(
      'tenon inspect greet.wasm',
      'tenon inspect greet.wasm --against greet-old.wasm',
      "tenon inspect greet.wasm --json | jq -r '.imports[].module' | sort -u",
    )
    .addHelpText(
      'after',
      `Features are proposals beyond the first version of WebAssembly. To list the functions: tenon instrument <module> --list`,
    )
    .action(async (input: string, options: { readonly against?: string; readonly json?: boolean }) => {
      const out = createReporter(io, options.json === true);
      const bytes = await readInput(io, input, 'the module');
      if (options.against !== undefined) {
        const earlier = await readInput(io, options.against, 'the earlier module');
        const comparison = refusing(() => compareModules(earlier, bytes));
        return out.result(comparison, () => showComparison(out, comparison));
      }
      const found = refusing(() => inspect(bytes));
      out.result(found, () => show(out, found));
    });
}

function inspect(bytes: Uint8Array): Inspected {
  const module = describeModule(bytes);
  const sections = listSections(bytes);
  return {
    bytes: bytes.length,
    isInstrumented: isInstrumented(module),
    hasNames: sections.some(({ name, isCustom }) => isCustom && name === 'name'),
    debugInfo: inspectDebugInfo(bytes),
    features: listProposals(bytes),
    ...module,
    sections,
  };
}

function inspectDebugInfo(bytes: Uint8Array): InspectedDebugInfo {
  const { dwarfBytes, sourceMapUrl, debugFileUrl } = findDebugInfo(bytes);
  const url = sourceMapUrl?.startsWith('data:') ? sourceMapUrl.replace(/,.*/s, '') : sourceMapUrl;
  return { dwarfBytes, sourceMapUrl: url ?? null, debugFileUrl: debugFileUrl ?? null };
}

function debugInfoInWords({ dwarfBytes, sourceMapUrl, debugFileUrl }: InspectedDebugInfo): string {
  const parts = [
    ...(dwarfBytes > 0 ? [`DWARF, ${formatSize(dwarfBytes)}`] : []),
    ...(sourceMapUrl === null
      ? []
      : [sourceMapUrl.startsWith('data:') ? 'a source map' : `a source map at ${printable(sourceMapUrl)}`]),
    ...(debugFileUrl === null ? [] : [`DWARF in ${printable(debugFileUrl)}`]),
  ];
  return parts.join('; ') || 'none: traces show no source files and lines';
}

function show(out: Reporter, found: Inspected): void {
  const { imports, exports, memories, sections } = found;
  const imported = imports.filter(({ kind }) => kind === 'function').length;
  out.fields([
    ['size', formatSize(found.bytes)],
    ['instrumented', found.isInstrumented ? 'yes' : 'no'],
    ['functions', `${formatNumber(found.functionCount)}, ${formatNumber(imported)} of them imported`],
    ['names', found.hasNames ? 'in its name section' : 'none: traces show exports, imports and indices'],
    ['debug info', debugInfoInWords(found.debugInfo)],
    ['memory', memories.length === 0 ? 'none' : memories.map(memoryInWords)],
    ['features', found.features.join(', ') || 'none'],
  ]);
  const heading = (text: string) => out.write(`\n${out.style.bold(text)}\n`);
  if (imports.length > 0) {
    heading('Imports');
    const rows = imports.map(({ module, name, kind, type }) => [
      printable(module),
      printable(name),
      inWords(kind, type),
    ]);
    out.table(['MODULE', 'NAME', 'TYPE'], rows, '');
  }
  if (exports.length > 0) {
    heading('Exports');
    const rows = exports.map(({ name, kind, type }) => [printable(name), inWords(kind, type)]);
    out.table(['NAME', 'TYPE'], rows, '');
  }
  if (sections.length > 0) {
    heading('Sections');
    const rows = sections.map(({ name, isCustom, bytes }) => [
      isCustom ? `custom: ${printable(name)}` : name,
      formatSize(bytes),
    ]);
    out.table(['SECTION', 'SIZE'], rows, '');
  }
}

function inWords(kind: string, type: FunctionSignature | undefined): string {
  return type === undefined ? kind : `(${type.params.join(', ')}) → (${type.results.join(', ')})`;
}

function memoryInWords({ minimumPages, maximumPages, isImported, isShared }: MemoryDescription): string {
  const most = maximumPages === undefined ? 'no maximum' : `at most ${formatNumber(maximumPages)}`;
  const traits = [...(isImported ? ['imported'] : []), ...(isShared ? ['shared'] : [])];
  return [`${count(minimumPages, 'page')} at the start`, most, ...traits].join(', ');
}
