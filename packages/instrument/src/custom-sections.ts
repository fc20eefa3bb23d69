import { InstrumentError } from './errors.ts';
import { hookModule } from './layout.ts';
import type { Module } from './module.ts';
import type { Section } from './sections.ts';

/** Refuses modules that must not be rewritten: those that were before, and objects that a linker has yet to see. */
export function checkRewritable(module: Module): void {
  const hook = module.imports.find(
    ({ module: from, name }) => from === hookModule || (from === 'dylibso_observe' && name.startsWith('instrument_')),
  );
  if (hook !== undefined) {
    const message = `Expected a module without tracing, found an import of ${hook.module}.${hook.name}: instrumenting twice would count every call twice`;
    throw new InstrumentError('already_instrumented', message, { offset: hook.offset });
  }
  const object = module.sections.find(({ id, name }) => id === 0 && (name === 'linking' || name.startsWith('reloc.')));
  if (object !== undefined) {
    const message = `Expected a linked module, found an object file with a ${object.name} section: instrument what the linker makes of it`;
    throw new InstrumentError('relocatable_object', message, { offset: object.start });
  }
}

/** Whether a custom section speaks of offsets into the code, which move. */
export function speaksOfCodeOffsets({ id, name }: Section): boolean {
  return (
    id === 0 &&
    (name.startsWith('.debug_') ||
      name.startsWith('metadata.code.') ||
      name === 'external_debug_info' ||
      name === 'sourceMappingURL' ||
      name === 'build_id')
  );
}
