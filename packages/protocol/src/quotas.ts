import type { Static } from 'typebox';
import { Type } from './type.ts';

/** The quota usage of an account or an application. */
export const quotaUse = Type.Object({
  quotas: Type.Array(
    Type.Object({
      name: Type.String({ description: 'the name in `TENON_QUOTAS`' }),
      what: Type.String({ description: 'a description for people of what the quota limits' }),
      isBytes: Type.Boolean({ description: 'whether it counts bytes' }),
      limit: Type.Integer(),
      used: Type.Integer({ description: 'may exceed `limit` after the quota was lowered' }),
    }),
  ),
});
export type QuotaUse = Static<typeof quotaUse>;
