import type { Static } from 'typebox';
import { id, nullable, oneOf, timestamp } from './fields.ts';
import { contentAddressPattern } from './names.ts';
import { Type } from './type.ts';

/* Simulations: tests of an extension point that a plugin must pass before it is bound, and their results. */

/** The result of testing a version. Only `passed` and `none_configured` let a version be bound. */
export const verdict = oneOf(['passed', 'failed', 'errored', 'timed_out', 'none_configured']);
export type Verdict = Static<typeof verdict>;

/** The result of one simulation. */
export const simulationVerdict = oneOf(['passed', 'failed', 'errored', 'timed_out']);
export type SimulationVerdict = Static<typeof simulationVerdict>;

/** The name of a simulation, unique within its extension point. */
export const simulationNamePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$';

/** The text or bytes of a block of memory. */
const memoryValue = Type.Union(
  [Type.String(), Type.Object({ base64: Type.String() }, { additionalProperties: false })],
  { description: 'a text, or `{ "base64": … }` for bytes' },
);

/** A parameter or result of a host function: a number, an `i64` as decimal text in `{ "i64": … }`, or a block of memory. */
export const hostValue = Type.Union([
  Type.Number(),
  Type.Object({ i64: Type.String({ pattern: '^-?[0-9]{1,20}$' }) }, { additionalProperties: false }),
  memoryValue,
]);
export type HostValue = Static<typeof hostValue>;

const hostCall = Type.Object(
  {
    name: Type.String({ description: "the host function's name" }),
    args: Type.Optional(Type.Array(hostValue, { description: 'the expected arguments; any if absent' })),
    returns: Type.Optional(hostValue),
  },
  { additionalProperties: false },
);

const expectation = Type.Object(
  {
    equals: Type.Optional(memoryValue),
    jsonSubset: Type.Optional(
      Type.Unknown({
        description: 'JSON that the output contains: objects may have more fields, lists have equal lengths',
      }),
    ),
    matchesSchema: Type.Optional(
      Type.Boolean({ description: "whether the output must fit the type that the extension point's schema declares" }),
    ),
    fails: Type.Optional(
      Type.Union([Type.Boolean(), Type.String()], {
        description: 'whether the call must fail; a text must be part of the error message',
      }),
    ),
  },
  { additionalProperties: false },
);

/** One call of a plugin's export, with what it must return. */
export const fixture = Type.Object(
  {
    name: Type.Optional(Type.String({ maxLength: 200, description: 'by default the export and a number' })),
    export: Type.String({ maxLength: 200 }),
    input: Type.Optional(Type.String({ description: 'the input as text' })),
    inputBase64: Type.Optional(Type.String({ description: 'the input as bytes' })),
    expect: expectation,
    hostCalls: Type.Optional(
      Type.Array(hostCall, { description: 'the calls of host functions that the plugin makes, in order' }),
    ),
  },
  { additionalProperties: false },
);
export type Fixture = Static<typeof fixture>;

const storedModule = Type.Object({
  contentAddress: Type.String({ pattern: contentAddressPattern }),
  size: Type.Integer({ description: 'in bytes' }),
});

export const simulation = Type.Object({
  id: id('simulation', 'the simulation'),
  extensionPointId: id('extensionPoint', 'the extension point'),
  name: Type.String({ pattern: simulationNamePattern }),
  revision: Type.Integer({
    minimum: 1,
    description:
      "which of the changes of the extension point's simulations was the last one of this simulation: 1, 2, 3, …",
  }),
  kind: oneOf(['module', 'fixtures']),
  testModule: nullable(storedModule, { description: 'the test module; `null` for fixtures' }),
  mockHost: nullable(storedModule, { description: 'the module with the host functions; `null` without one' }),
  mockInputBase64: nullable(Type.String(), { description: 'what `mock_input()` returns; `null` without one' }),
  fixtures: nullable(Type.Array(fixture), { description: '`null` for a test module' }),
  createdAt: timestamp('when it was created'),
  updatedAt: timestamp('when it last changed'),
});
export type Simulation = Static<typeof simulation>;

/** Either `fixtures`, or `testModuleBase64`, optionally with a mock host and a mock input. */
export const simulationInput = Type.Object(
  {
    fixtures: Type.Optional(Type.Array(fixture, { minItems: 1, maxItems: 1000 })),
    testModuleBase64: Type.Optional(Type.String({ description: 'the WebAssembly module that exports `test`' })),
    mockHostBase64: Type.Optional(Type.String({ description: 'a module that exports the host functions' })),
    mockInput: Type.Optional(memoryValue),
  },
  { additionalProperties: false },
);
export type SimulationInput = Static<typeof simulationInput>;

/** A value in a report, shortened to its first 1,024 bytes. */
const excerpt = Type.Object({
  text: nullable(Type.String(), { description: 'the start, if it is UTF-8 text; else `null`' }),
  base64: Type.Optional(Type.String({ description: 'the start, if it is not text' })),
  size: Type.Integer({ description: 'of the whole value, in bytes' }),
  sha256: Type.String({ description: 'of the whole value, in base64url' }),
});
export type Excerpt = Static<typeof excerpt>;

export const assertion = Type.Object({
  group: nullable(Type.String({ description: 'the group in which it was made' })),
  name: Type.String(),
  passed: Type.Boolean(),
  reason: nullable(Type.String({ description: 'why it failed' })),
});
export type Assertion = Static<typeof assertion>;

/** One call of the plugin under test. */
export const simulatedCall = Type.Object({
  export: Type.String(),
  input: excerpt,
  output: nullable(excerpt, { description: '`null` if the call failed' }),
  error: nullable(Type.String({ description: 'why the call failed' })),
  timeNano: Type.Integer(),
  memoryPages: nullable(Type.Integer({ description: "the plugin's memory after the call, in pages of 64 KiB" })),
  functionCalls: nullable(Type.Integer(), {
    description:
      "how many calls of the plugin's functions it made; `null` if the module can't be instrumented, or the stack overflowed",
  }),
  hostCalls: Type.Array(
    Type.Object({ name: Type.String(), args: Type.Array(hostValue), returns: nullable(hostValue) }),
  ),
});
export type SimulatedCall = Static<typeof simulatedCall>;

const share = Type.Object({ total: Type.Integer(), covered: Type.Integer() });

/** The result of one simulation of one plugin. Its lists are cut when it becomes too large. */
export const simulationReport = Type.Object({
  name: Type.String({ description: "the simulation's name" }),
  revision: nullable(Type.Integer({ description: "the simulation's revision; `null` for one that is not stored" })),
  verdict: simulationVerdict,
  detail: nullable(Type.String({ description: 'why it did not pass, if no assertion explains it' })),
  assertions: Type.Array(assertion),
  calls: Type.Array(simulatedCall),
  log: Type.Array(Type.Object({ from: oneOf(['test', 'plugin', 'host']), level: Type.String(), text: Type.String() })),
  durationMs: Type.Number(),
  isCut: Type.Boolean({ description: 'whether a list or a text was cut' }),
  coverage: Type.Optional(
    Type.Object(
      { functions: share, blocks: share },
      { description: "how many of the plugin's functions and basic blocks have run; absent if it was not measured" },
    ),
  ),
});
export type SimulationReport = Static<typeof simulationReport>;

/** One test of a version against all simulations of its extension point. */
export const simulationRun = Type.Object({
  id: id('simulationRun', 'the run'),
  state: oneOf(['queued', 'running', 'done']),
  verdict: nullable(verdict, {
    description: '`null` until there is one; `errored` is tried again while the state is not `done`',
  }),
  detail: nullable(Type.String({ description: 'why it did not pass' })),
  attempts: Type.Integer({ description: 'how often it was started' }),
  nextAttemptAt: nullable(timestamp('when it is tried again')),
  simulations: Type.Array(simulationReport),
  startedAt: nullable(timestamp('when it was last started')),
  endedAt: nullable(timestamp('when it ended')),
});
export type SimulationRun = Static<typeof simulationRun>;
