import type { Declaration, FunctionModel, PluginInterface, TypeModel } from './plugin-interface.ts';

const maxDepth = 8;

/** A JSON file of fixtures for `tenon plugin test`: a call of each export, which fails until the export is written. */
export function sampleFixtures({ exports, declarations }: PluginInterface, isSample: boolean): string {
  const fixtures = exports.map((entry) => ({
    export: entry.name,
    ...sampleInput(entry, declarations, isSample),
    expect: isSample ? { equals: 'Hello, Ada!' } : { fails: false },
  }));
  return `${JSON.stringify(fixtures, null, 2)}\n`;
}

function sampleInput({ input }: FunctionModel, declarations: readonly Declaration[], isSample: boolean): object {
  if (input === undefined) return {};
  if (input.encoding === 'binary') return { inputBase64: '' };
  const value = isSample ? 'Ada' : sampleValue(input.type, declarations, 0);
  return { input: input.encoding === 'json' ? JSON.stringify(value) : String(value) };
}

function sampleValue(type: TypeModel, declarations: readonly Declaration[], depth: number): unknown {
  if (type.nullable && depth > 0) return null;
  switch (type.kind) {
    case 'string':
      return 'text';
    case 'boolean':
      return true;
    case 'integer':
      return 1;
    case 'number':
      return 0.5;
    case 'bytes':
      return '';
    case 'array':
      return depth > maxDepth ? [] : [sampleValue(type.items, declarations, depth + 1)];
    case 'map':
    case 'any':
      return {};
    case 'object':
    case 'enum': {
      const found = declarations.find(({ name }) => name === type.name);
      if (found?.kind === 'enum') return found.values[0];
      const fields = found?.fields.filter((field) => field.isRequired && depth <= maxDepth) ?? [];
      return Object.fromEntries(fields.map((field) => [field.name, sampleValue(field.type, declarations, depth + 1)]));
    }
  }
}
