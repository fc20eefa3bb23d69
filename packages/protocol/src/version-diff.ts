import type { Static, TSchema } from 'typebox';
import { nullable, oneOf } from './fields.ts';
import { Type } from './type.ts';

/* The differences between a version's module and that of another version. */

const size = (description: string) => Type.Integer({ minimum: 0, description });

/** The start of a list. */
const shortened = <T extends TSchema>(item: T, description: string) =>
  Type.Object(
    { total: size('the length of the whole list'), items: Type.Array(item, { description: 'the first 30' }) },
    { description },
  );

const memory = Type.Object({
  minimumPages: size('the initial size'),
  maximumPages: Type.Optional(size('absent without a maximum')),
  pageBytes: size('the size of a page'),
  isImported: Type.Boolean(),
  isExported: Type.Boolean(),
  isShared: Type.Boolean(),
});

const comparedModule = Type.Object({
  bytes: size('its size'),
  functionCount: size('including imported functions'),
  importedFunctionCount: size('the number of imported functions'),
  exportCount: size('the number of exports'),
  memories: shortened(memory, 'as declared'),
  features: Type.Array(Type.String(), { description: 'the proposals beyond the first version of WebAssembly' }),
  isInstrumented: Type.Boolean(),
  hasNames: Type.Boolean({ description: 'whether a name section names functions' }),
});

const name = Type.String({ description: 'at most 200 characters' });
const declarationType = {
  kind: oneOf(['function', 'table', 'memory', 'global', 'tag']),
  type: Type.Optional(Type.String({ description: 'for a function, as in the text format' })),
};
const declaration = Type.Object({ name, ...declarationType });
const changedExport = Type.Object({ name, ...declarationType, before: Type.Object(declarationType) });
const comparedFunction = Type.Object({ name, bytes: size("its body's size") });
const changedFunction = Type.Object({ name, bytes: size("its body's size"), bytesBefore: size('its size before') });
const changedSection = Type.Object({
  name,
  isCustom: Type.Boolean(),
  bytesBefore: nullable(size('`null` if the other version lacks it')),
  bytes: nullable(size('`null` if the version lacks it')),
});

export const versionDiffQuery = Type.Object({
  against: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'the number of the other version; by default the newest other one that is bound',
    }),
  ),
});

export const versionDiff = Type.Object({
  against: nullable(
    Type.Integer({ description: 'the number of the other version; `null` if no other version is bound' }),
  ),
  before: nullable(comparedModule, {
    description: 'the other version; if it is `null`, all parts of the version are listed as added',
  }),
  after: comparedModule,
  imports: Type.Object({
    added: shortened(declaration, 'named `module.name`; a changed type is a removed and an added import'),
    removed: shortened(declaration, 'named `module.name`'),
  }),
  exports: Type.Object({
    added: shortened(declaration, 'exports that the other version lacks'),
    removed: shortened(declaration, 'exports that the version lacks'),
    changed: shortened(changedExport, 'exports whose kind, type or target differs'),
  }),
  functions: Type.Object({
    added: shortened(comparedFunction, 'the largest first'),
    removed: shortened(comparedFunction, 'the largest first'),
    changed: shortened(changedFunction, 'functions whose type or code differs, the largest difference in size first'),
    unchanged: size('the number of functions that differ in nothing but the numbering of functions and types'),
  }),
  sections: shortened(changedSection, 'sections that differ by more than the numbering of functions and types'),
});
export type VersionDiff = Static<typeof versionDiff>;
