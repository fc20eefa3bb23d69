import type { Static } from 'typebox';
import { Type } from './type.ts';

/** What B1 answers. Without `answer` it is the instrumented module. */
export const instrumentationQuery = Type.Object({
  answer: Type.Optional(
    Type.Union([Type.Literal('module'), Type.Literal('report')], {
      description: 'what is answered: the instrumented module (by default), or a report on what instrumenting does',
    }),
  ),
});
export type InstrumentationQuery = Static<typeof instrumentationQuery>;

const listedFunction = Type.Object({
  index: Type.Integer({ minimum: 0, description: 'in the module that was sent' }),
  name: Type.String({ description: 'what a trace calls it' }),
  nameSource: Type.Union(
    [Type.Literal('name-section'), Type.Literal('export'), Type.Literal('import'), Type.Literal('none')],
    { description: 'where the name comes from; a configuration can not speak of a function that has none' },
  ),
  exportNames: Type.Array(Type.String()),
  import: Type.Optional(Type.Object({ module: Type.String(), name: Type.String() })),
  bodyBytes: Type.Optional(Type.Integer({ minimum: 0, description: 'unless it is imported' })),
  isTraced: Type.Boolean(),
});

/** What instrumenting a module does, with all its notes and functions. */
export const instrumentationReport = Type.Object({
  tracedFunctions: Type.Integer({ minimum: 0 }),
  totalFunctions: Type.Integer({ minimum: 0, description: 'imported ones included' }),
  addedImports: Type.Array(Type.String(), { description: 'from `dylibso:observe/instrument`' }),
  inputBytes: Type.Integer({ minimum: 0 }),
  outputBytes: Type.Integer({ minimum: 0 }),
  notes: Type.Array(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      {
        additionalProperties: true,
        description: 'with further members by `code`: `name`, `nearName`, `functionIndex`, `section`, …',
      },
    ),
  ),
  functions: Type.Array(listedFunction, { description: 'in the order of their indices' }),
});
export type InstrumentationReport = Static<typeof instrumentationReport>;
