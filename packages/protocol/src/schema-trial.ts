import type { Static } from 'typebox';
import {
  extensionPointLimits,
  extensionPointSchema,
  extensionPointUpdate,
  schemaWarnings,
} from './extension-points.ts';
import { id } from './fields.ts';
import { Type } from './type.ts';

/* Testing a change of an extension point's schema or limits before it is made. */

/** The schema and limits to test. An absent field keeps its current value. */
export const schemaTrialInput = Type.Pick(extensionPointUpdate, ['schema', 'limits']);
export type SchemaTrialInput = Static<typeof schemaTrialInput>;

const triedPlugin = {
  pluginId: Type.String({ description: '`<extension_point_id>/plugin/<user_id>/<plugin_name>`' }),
  userName: Type.String({ description: "the publisher's name" }),
  name: Type.String(),
  version: Type.Integer({ description: 'the number of the version that is bound' }),
  guestIds: Type.Array(id('guest', 'a guest'), { description: 'the guests under which it is bound; 100 at most' }),
  hasMoreGuests: Type.Boolean({ description: 'whether it is bound under more guests than these' }),
};

/** One reason why a module would not fit. */
export const mismatch = Type.Object({
  code: Type.String({ description: 'a stable code such as `missing_export`' }),
  pointer: Type.String({ description: 'a JSON Pointer such as `/exports/greet`' }),
  detail: Type.String({ description: 'a description for people' }),
});

/** A bound version that would not fit. */
export const breakingPlugin = Type.Object({
  ...triedPlugin,
  mismatches: Type.Array(mismatch),
  isBrokenAlready: Type.Boolean({ description: 'whether it does not fit the current schema and limits either' }),
});
export type BreakingPlugin = Static<typeof breakingPlugin>;

export const schemaTrial = Type.Object({
  schema: extensionPointSchema,
  warnings: schemaWarnings,
  limits: extensionPointLimits,
  checked: Type.Integer({ description: 'the number of checked bound versions' }),
  breaking: Type.Integer({ description: 'the number of those that would not fit' }),
  objects: Type.Array(breakingPlugin, { description: 'the first 1,000 that would not fit' }),
  unreadable: Type.Array(Type.Object({ ...triedPlugin, detail: Type.String({ description: 'why' }) }), {
    description: 'the first 1,000 that could not be checked',
  }),
  hasMoreUnreadable: Type.Boolean({ description: 'whether there are more that could not be checked' }),
});
export type SchemaTrial = Static<typeof schemaTrial>;
