import type { Static } from 'typebox';
import { oneOf } from './fields.ts';
import { Type } from './type.ts';

export const instrumentationQuery = Type.Object({
  answer: Type.Optional(
    oneOf(['module', 'report'], {
      description: 'the response: the instrumented module (default), or a report on the instrumentation',
    }),
  ),
});

const listedFunction = Type.Object({
  index: Type.Integer({ minimum: 0, description: 'the function index in the sent module' }),
  name: Type.String({ description: 'the name in traces' }),
  nameSource: oneOf(['name-section', 'export', 'import', 'none'], {
    description: 'the source of the name; a configuration cannot name a function with `none`',
  }),
  exportNames: Type.Array(Type.String()),
  import: Type.Optional(Type.Object({ module: Type.String(), name: Type.String() })),
  bodyBytes: Type.Optional(Type.Integer({ minimum: 0, description: 'absent for an imported function' })),
  isTraced: Type.Boolean(),
});

/** A report on the instrumentation of a module, with all notes and functions. */
export const instrumentationReport = Type.Object({
  tracedFunctions: Type.Integer({ minimum: 0 }),
  totalFunctions: Type.Integer({ minimum: 0, description: 'including imported ones' }),
  addedImports: Type.Array(Type.String(), { description: 'names of the added functions, such as `enter`' }),
  inputBytes: Type.Integer({ minimum: 0 }),
  outputBytes: Type.Integer({ minimum: 0 }),
  buildId: Type.Optional(
    Type.Object(
      { input: Type.String(), output: Type.String() },
      { description: 'the IDs in the `build_id` section, in hexadecimal, if the module has one' },
    ),
  ),
  notes: Type.Array(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      {
        additionalProperties: true,
        description: 'with further properties that depend on `code`: `name`, `nearName`, `functionIndex`, `section`, …',
      },
    ),
  ),
  functions: Type.Array(listedFunction, { description: 'by function index' }),
});
export type InstrumentationReport = Static<typeof instrumentationReport>;
