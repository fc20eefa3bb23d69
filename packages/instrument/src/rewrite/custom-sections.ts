import { isHook } from '../binary/imports.ts';
import type { Module } from '../binary/module.ts';
import type { Section } from '../binary/sections.ts';
import type { ByteWriter } from '../binary/writer.ts';
import { coverageSection } from '../coverage/coverage-map.ts';
import { InstrumentError } from '../errors.ts';
import { writeCallTargets, writeCodeMetadata } from './code-metadata.ts';
import type { OffsetMapContext } from './create-offset-map.ts';
import { writeAnnotatedFunctions, writeCompilationHints } from './function-lists.ts';
import type { OffsetMap } from './offset-map.ts';

/** What happens to custom sections with certain names. The docs have the same table. */
export interface CustomSectionRule {
  /** A `*` at the end stands for any characters. */
  readonly names: readonly string[];
  readonly treatment: 'kept' | 'rewritten' | 'dropped' | 'refused';
  readonly reason: string;
  /** Writes the new contents. Throws `invalid_module` for malformed contents, which are legal: the section is then dropped. */
  readonly write?: (writer: ByteWriter, context: OffsetMapContext, map: () => OffsetMap, section: Section) => void;
}

/** By name; the first rule that fits counts. Sections that none fits are kept. */
export const customSectionRules: readonly CustomSectionRule[] = [
  {
    names: ['name'],
    treatment: 'rewritten',
    reason: 'it has function indices and labels, and every traced function needs a name',
  },
  { names: ['producers'], treatment: 'rewritten', reason: 'it names the tools, so Tenon is added' },
  {
    names: ['sourceMappingURL'],
    treatment: 'rewritten',
    reason: 'the source map has code offsets; dropped if the map is not at hand',
  },
  {
    names: ['build_id'],
    treatment: 'rewritten',
    reason: 'the output is another build; the report has both IDs',
  },
  {
    names: [
      'metadata.code.branch_hint',
      'metadata.code.trace_inst',
      'metadata.code.compilation_priority',
      'metadata.code.instr_freq',
    ],
    treatment: 'rewritten',
    reason: 'it has function indices and code offsets',
    write: (writer, context, map, section) => writeCodeMetadata(writer, context, map(), section),
  },
  {
    names: ['metadata.code.call_targets'],
    treatment: 'rewritten',
    reason: 'it has function indices and code offsets',
    write: (writer, context, map, section) => writeCodeMetadata(writer, context, map(), section, writeCallTargets),
  },
  {
    names: ['.llvm.func_attr.annotate.*'],
    treatment: 'rewritten',
    reason: 'it has function indices',
    write: (writer, context, _, section) => writeAnnotatedFunctions(writer, context, section),
  },
  {
    names: ['compilationHints'],
    treatment: 'rewritten',
    reason: 'it has one byte per function, and functions are added',
    write: (writer, context, _, section) => writeCompilationHints(writer, context, section),
  },
  {
    names: ['.debug_*'],
    treatment: 'rewritten',
    reason: 'it has code offsets; dropped if it is split or has unknown extensions',
  },
  {
    names: ['external_debug_info'],
    treatment: 'rewritten',
    reason: 'the file that it names has code offsets; dropped if the file is not at hand',
  },
  { names: ['metadata.code.*'], treatment: 'dropped', reason: 'it has code offsets, and its contents are not known' },
  { names: ['tenon.code-map'], treatment: 'dropped', reason: 'it has the offsets of other code' },
  { names: ['corestack'], treatment: 'dropped', reason: 'it describes a run of the input' },
  { names: ['instTrace'], treatment: 'dropped', reason: 'it has code offsets, and its contents are not known' },
  {
    names: ['dylink', 'dylink.0', 'target_features', 'component-type:*', 'core', 'coremodules', 'coreinstances'],
    treatment: 'kept',
    reason: 'it has no indices that change, and no code offsets',
  },
  {
    names: ['linking', 'reloc.*'],
    treatment: 'refused',
    reason: 'the module is an object file',
  },
];

/** The rule for a custom section; undefined if none fits. */
export function ruleOf(name: string): CustomSectionRule | undefined {
  return customSectionRules.find(({ names }) => names.some((pattern) => fits(pattern, name)));
}

function fits(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** Refuses instrumented modules, and object files that have not been linked. */
export function checkRewritable(module: Module): void {
  const hook = module.imports.find(isHook);
  if (hook !== undefined) {
    const message = `Expected a module without tracing, found an import of ${hook.module}.${hook.name}: instrumenting twice would count every call twice`;
    throw new InstrumentError('already_instrumented', message, { offset: hook.offset });
  }
  const coverage = module.sections.find(({ id, name }) => id === 0 && name === coverageSection);
  if (coverage !== undefined) {
    const message = `Expected a module without coverage, found a ${coverageSection} section`;
    throw new InstrumentError('already_instrumented', message, { offset: coverage.start });
  }
  const object = module.sections.find(({ id, name }) => id === 0 && ruleOf(name)?.treatment === 'refused');
  if (object !== undefined) {
    const message = `Expected a linked module, found an object file with a ${object.name} section: instrument what the linker makes of it`;
    throw new InstrumentError('relocatable_object', message, { offset: object.start });
  }
}
