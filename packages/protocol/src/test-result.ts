import type { Static } from 'typebox';
import { nullable, oneOf } from './fields.ts';
import { Type } from './type.ts';

/* The result of a version's simulations as an in-toto statement: https://github.com/in-toto/attestation/blob/main/spec/predicates/test-result.md */

const digest = Type.Object({ sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'in hexadecimal' }) });

const configuration = Type.Object({
  name: Type.String({ description: 'such as `basics/test-module`' }),
  uri: Type.String({ description: "the simulation's URL" }),
  digest: Type.Optional(digest),
  downloadLocation: Type.Optional(Type.String()),
  mediaType: Type.Optional(Type.String()),
  annotations: Type.Object({
    revision: nullable(Type.Integer({ description: 'of the simulation that was run' })),
  }),
});

export const testResult = Type.Object({
  _type: Type.Literal('https://in-toto.io/Statement/v1'),
  subject: Type.Array(Type.Object({ name: Type.String(), digest }), { description: 'the module' }),
  predicateType: Type.Literal('https://in-toto.io/attestation/test-result/v0.1'),
  predicate: Type.Object({
    result: oneOf(['PASSED', 'WARNED', 'FAILED']),
    configuration: Type.Array(configuration, {
      description: 'what was run; without a digest if the simulation has changed since',
    }),
    url: Type.String({ description: 'the URL of the runs' }),
    passedTests: Type.Array(Type.String({ description: 'the name of a simulation' })),
    warnedTests: Type.Array(Type.String()),
    failedTests: Type.Array(Type.String({ description: 'the name of a simulation' })),
  }),
});
export type TestResult = Static<typeof testResult>;

export const testResultType = 'application/vnd.in-toto+json';
