import type { Static } from 'typebox';
import { id, nullable } from './fields.ts';
import { Type } from './type.ts';

/* The response to an action with `dryRun=true`: the effects that the action would have. */

/** The maximum number of entries in each list of a {@link dryRun}. */
export const maxDryRunEntries = 100;

const change = {
  pluginName: Type.String({
    description: "the plugin's name; an action may also change other plugins with the same bytes",
  }),
  before: nullable(Type.Integer(), { description: 'the version that is bound; `null` when none is' }),
  after: nullable(Type.Integer(), { description: 'the version that would be bound; `null` when none would be' }),
};

export const dryRun = Type.Object({
  changed: Type.Integer({ description: 'the number of bindings that would change' }),
  unchanged: Type.Integer({ description: 'the number of affected bindings that would keep their version' }),
  outcomes: Type.Array(
    Type.Object({ ...change, guests: Type.Integer({ description: 'the number of guests with this change' }) }),
    { description: 'the changes by outcome, the most frequent first; 100 at most' },
  ),
  changes: Type.Array(
    Type.Object({
      ...change,
      guestId: id('guest', 'the guest'),
      guestKey: Type.Optional(Type.String({ description: "the guest's key; for members only" })),
    }),
    { description: 'the first 100 changes' },
  ),
  hasMore: Type.Boolean({ description: 'whether there are more bindings, which the dry run did not examine' }),
});
export type DryRun = Static<typeof dryRun>;

export const dryRunQuery = {
  dryRun: Type.Optional(
    Type.Enum(['true', 'false'], { description: 'with `true`, changes nothing and returns the effects of the action' }),
  ),
} as const;
