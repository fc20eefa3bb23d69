import type { Static } from 'typebox';
import { id } from './fields.ts';
import { extensionPointLimits, extensionPointSchema, extensionPointUpdate } from './schemas.ts';
import { Type } from './type.ts';

/** Trying a change of an extension point's schema or limits before it is made, as it goes over the wire. */

/** What is tried. What is left out is as it is now. */
export const schemaTrialInput = Type.Pick(extensionPointUpdate, ['schema', 'limits']);
export type SchemaTrialInput = Static<typeof schemaTrialInput>;

const triedPlugin = {
  pluginId: Type.String({ description: '`<extension_point_id>/plugin/<user_id>/<plugin_name>`' }),
  userName: Type.String({ description: 'who publishes it' }),
  name: Type.String(),
  version: Type.Integer({ description: 'the number of the version that is bound' }),
  guestIds: Type.Array(id('guest', 'a guest'), { description: 'the guests under which it is bound; 100 at most' }),
  hasMoreGuests: Type.Boolean({ description: 'whether it is bound under more guests than these' }),
};

/** One way in which a module would not fit. */
export const mismatch = Type.Object({
  code: Type.String({ description: 'what is wrong, as a stable name such as `missing_export`' }),
  pointer: Type.String({ description: 'what it is about, as a JSON Pointer such as `/exports/greet`' }),
  detail: Type.String({ description: 'in words for people' }),
});

/** A bound version that would not fit. */
export const breakingPlugin = Type.Object({
  ...triedPlugin,
  mismatches: Type.Array(mismatch),
  isBrokenAlready: Type.Boolean({ description: 'whether it does not fit the schema and limits of now either' }),
});
export type BreakingPlugin = Static<typeof breakingPlugin>;

export const schemaTrial = Type.Object({
  schema: extensionPointSchema,
  limits: extensionPointLimits,
  checked: Type.Integer({ description: 'how many bound versions were looked at' }),
  breaking: Type.Integer({ description: 'how many of them would not fit' }),
  objects: Type.Array(breakingPlugin, { description: 'those that would not fit, the first 1,000' }),
  unreadable: Type.Array(Type.Object({ ...triedPlugin, detail: Type.String({ description: 'why' }) }), {
    description: 'those that could not be looked at, the first 1,000',
  }),
  hasMoreUnreadable: Type.Boolean({ description: 'whether more than these could not be looked at' }),
});
export type SchemaTrial = Static<typeof schemaTrial>;
