import { createHash } from 'node:crypto';
import type { Config } from '@tenon/server';
import { openService, type TestUser } from '../../packages/server/test/helpers/service.ts';
import {
  largeModule,
  makeApp,
  makeExtensionPoint,
  makeGuest,
  makeMember,
  tinyModule,
} from '../../packages/server/test/helpers/world.ts';

/** Who has to do with the application over which the storm goes. */
export interface Stage {
  readonly appId: string;
  readonly extensionPointId: string;
  readonly owner: TestUser;
  /** A member for good. */
  readonly viewer: TestUser;
  /** A member, whose tokens come and go. */
  readonly keeper: TestUser;
  /** Who is a member now and then. */
  readonly visitor: TestUser;
  readonly publishers: readonly Publisher[];
}

export interface Publisher extends TestUser {
  readonly guestKey: string;
}

/** What each publisher publishes under. */
export const pluginNames = ['alpha', 'beta'] as const;

/** Makes what is there before the storm, by one node that is closed again. */
export async function setStage(config: Partial<Config>, publishers: number): Promise<Stage> {
  const service = await openService({ config });
  try {
    const user = async (name: string): Promise<TestUser> => {
      const { id } = await service.user(name);
      return { id, token: await service.token(id, { lifetimeMs: 7 * 24 * 3_600_000 }) };
    };
    const [owner, viewer, keeper] = [await user('Olga'), await user('Vera'), await user('Kate')];
    const appId = await makeApp(service, owner, { viewer });
    const extensionPointId = await makeExtensionPoint(service, owner, appId);
    const made: Publisher[] = [];
    for (let at = 0; at < publishers; at++) {
      const publisher = { ...(await user(`Paul ${at}`)), guestKey: `guests/${at}` };
      await makeGuest(service, owner, appId, publisher.guestKey, publisher);
      made.push(publisher);
    }
    await makeMember(service, owner, appId, 'viewer', keeper);
    return { appId, extensionPointId, owner, viewer, keeper, visitor: await user('Vic'), publishers: made };
  } finally {
    await service.close();
  }
}

/**
 * What a publisher publishes as its so-manieth. Every other module is one that all publish at about the same time; some of those
 * are too large for the cache.
 */
export function moduleOf(number: number, publisher: number): Buffer {
  if (number % 2 === 1) return tinyModule(1_000_000 + number * 100 + publisher);
  return number % 4 === 0 ? largeModule(90_000 + number) : tinyModule(number);
}

export function addressOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}
