import { isHook } from '../binary/imports.ts';
import type { Module } from '../binary/module.ts';
import type { Section } from '../binary/sections.ts';
import { coverageSection } from '../coverage/coverage-map.ts';
import { InstrumentError } from '../errors.ts';

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
  const object = module.sections.find(({ id, name }) => id === 0 && (name === 'linking' || name.startsWith('reloc.')));
  if (object !== undefined) {
    const message = `Expected a linked module, found an object file with a ${object.name} section: instrument what the linker makes of it`;
    throw new InstrumentError('relocatable_object', message, { offset: object.start });
  }
}

/** Custom sections that would be wrong in the output, and why. */
const stale: readonly { readonly isName: RegExp; readonly reason: string }[] = [
  {
    isName: /^(?:\.debug_.*|metadata\.code\..*|external_debug_info|sourceMappingURL|build_id|corestack|instTrace)$/s,
    reason: 'it contains offsets into the code, which moved',
  },
  {
    isName: /^(?:\.llvm\.func_attr\.annotate\..*|compilationHints)$/s,
    reason: 'it contains function indices, which moved',
  },
];

/** Why a custom section is dropped; undefined if it is kept. */
export function whyStale({ id, name }: Section): string | undefined {
  return id === 0 ? stale.find(({ isName }) => isName.test(name))?.reason : undefined;
}
