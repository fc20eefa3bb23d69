import type { Static } from 'typebox';
import { Type } from './type.ts';

/** How much an account or an application takes of each quota, as it goes over the wire. */
export const quotaUse = Type.Object({
  quotas: Type.Array(
    Type.Object({
      name: Type.String({ description: 'as `TENON_QUOTAS` names it' }),
      what: Type.String({ description: 'what it bounds, in words for people' }),
      isBytes: Type.Boolean({ description: 'whether it counts bytes' }),
      limit: Type.Integer(),
      used: Type.Integer({ description: 'above `limit` where the quota was lowered' }),
    }),
  ),
});
export type QuotaUse = Static<typeof quotaUse>;
