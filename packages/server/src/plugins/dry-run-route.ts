import type * as wire from '@tenon/protocol';
import { dryRunQuery, dryRun as dryRunSchema, maxDryRunEntries } from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import type { ExtensionPointAccess } from '../auth/access.ts';
import { isMember } from '../auth/access.ts';
import { dryRunExample } from '../http/examples.ts';
import { json, type Route } from '../http/route.ts';
import { type DryRunEffects, dryRun } from './dry-run.ts';

/** Adds the query parameter `dryRun` to a route that changes a plugin's bindings. */
export function withDryRun(route: Route): Route {
  const { query, responses, errors = [], handle } = route;
  const { 200: result, 204: done } = responses;
  const effects = json('the effects, with `dryRun=true`', dryRunSchema, dryRunExample);
  const either = result?.schema && {
    ...result,
    description: `${result.description}; with \`dryRun=true\`, the effects`,
    schema: Type.Union([result.schema, dryRunSchema]),
  };
  return {
    ...route,
    query: Type.Object({ ...query?.properties, ...dryRunQuery }),
    responses: { ...responses, 200: either ?? effects },
    errors: [...errors, 'conflict'],
    async handle(services, call, reply) {
      if ((call.query as { dryRun?: string }).dryRun !== 'true') {
        if (done !== undefined) reply.code(204);
        return handle(services, call, reply);
      }
      const { access } = call.auth as { readonly access: ExtensionPointAccess };
      const found = await dryRun(services.deps, async (deps) => handle({ ...services, deps }, call, reply));
      return toWire(found, isMember(access));
    },
  };
}

/** @param isForMember whether the caller may see guest keys */
function toWire({ bindings, hasMore }: DryRunEffects, isForMember: boolean): wire.DryRun {
  const changes = bindings.filter(({ before, after }) => before !== after);
  const groups = Map.groupBy(changes, ({ pluginName, before, after }) => JSON.stringify([pluginName, before, after]));
  const outcomes = [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const { pluginName, before, after } = first;
    return { pluginName, before, after, guests: others.length + 1 };
  });
  return {
    changed: changes.length,
    unchanged: bindings.length - changes.length,
    outcomes: outcomes.sort((a, b) => b.guests - a.guests).slice(0, maxDryRunEntries),
    changes: changes
      .slice(0, maxDryRunEntries)
      .map(({ guestKey, ...change }) => (isForMember ? { ...change, guestKey } : change)),
    hasMore,
  };
}
