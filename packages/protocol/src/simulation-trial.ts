import type { Static } from 'typebox';
import { extensionPointUpdate } from './extension-points.ts';
import { nullable, oneOf } from './fields.ts';
import {
  simulatedCall,
  simulationInput,
  simulationNamePattern,
  simulationReport,
  simulationVerdict,
  verdict,
} from './simulations.ts';
import { Type } from './type.ts';

/* Trials of simulations against bound versions, and comparisons of two versions. Both change nothing. */

/** A change of an extension point's simulations or schema. Without a field, that is as stored. */
export const simulationTrialInput = Type.Object(
  {
    name: Type.Optional(
      Type.String({ pattern: simulationNamePattern, description: 'the simulation to run; by default all' }),
    ),
    simulation: Type.Optional(simulationInput),
    schema: extensionPointUpdate.properties.schema,
  },
  { additionalProperties: false },
);
export type SimulationTrialInput = Static<typeof simulationTrialInput>;

/** A request tries some of the bound versions. */
export const simulationTrialQuery = Type.Object({
  cursor: Type.Optional(Type.String({ maxLength: 100, description: 'the `nextCursor` of the previous request' })),
});

const triedVersion = Type.Object({
  pluginId: Type.String({ description: '`<extension_point_id>/plugin/<user_id>/<plugin_name>`' }),
  name: Type.String({ description: "the plugin's name" }),
  userName: Type.String({ description: "the publisher's name" }),
  version: Type.Integer({ description: 'the number of the version that is bound' }),
  verdict,
  detail: nullable(Type.String({ description: 'why it errored' })),
  simulations: Type.Array(simulationReport),
});

export type TriedVersion = Static<typeof triedVersion>;

/** What a change would mean for the bound versions. */
export const simulationTrial = Type.Object({
  objects: Type.Array(triedVersion, { description: 'the bound versions, each once' }),
  isCut: Type.Boolean({ description: 'whether there are more bound versions, which were not tried' }),
  nextCursor: Type.Optional(
    Type.String({ description: 'the `cursor` of the next request; absent after the last one' }),
  ),
});
export type SimulationTrial = Static<typeof simulationTrial>;

const comparedCall = Type.Object({
  before: nullable(simulatedCall, { description: '`null` if only the other version made the call' }),
  after: nullable(simulatedCall, { description: '`null` if only the other version made the call' }),
  differs: Type.Boolean({
    description:
      'whether the inputs, outputs, errors, or calls of host functions differ, or only one version made the call',
  }),
  changes: Type.Array(oneOf(['input', 'output', 'error', 'host_calls', 'time', 'memory', 'function_calls']), {
    description: 'what differs; `time` only if one call took twice as long as the other, and a millisecond longer',
  }),
});
export type ComparedCall = Static<typeof comparedCall>;

/** The behaviour of a version beside that of another one, in the same simulations. */
export const simulationComparison = Type.Object({
  version: Type.Integer(),
  against: nullable(Type.Integer(), { description: 'the other version; `null` if no other version is bound' }),
  simulations: Type.Array(
    Type.Object({
      name: Type.String({ description: "the simulation's name" }),
      before: nullable(simulationVerdict),
      after: simulationVerdict,
      calls: Type.Array(comparedCall, { description: 'those that differ first' }),
      isCut: Type.Boolean({ description: 'whether calls were left out' }),
    }),
  ),
});
export type SimulationComparison = Static<typeof simulationComparison>;
