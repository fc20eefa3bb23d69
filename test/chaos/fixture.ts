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

/** An application and its users, created before the nodes under test start. */
export interface Fixture {
  readonly appId: string;
  readonly extensionPointId: string;
  readonly owner: TestUser;
  /** Always a member. */
  readonly viewer: TestUser;
  /** A member that creates and revokes tokens. */
  readonly tokenOwner: TestUser;
  /** Joins and leaves the application. */
  readonly visitor: TestUser;
  readonly publishers: readonly Publisher[];
}

export interface Publisher extends TestUser {
  readonly guestKey: string;
}

/** The plugins that each publisher publishes. */
export const pluginNames = ['alpha', 'beta'] as const;

export async function createFixture(config: Partial<Config>, publisherCount: number): Promise<Fixture> {
  const service = await openService({ config });
  try {
    const user = async (name: string): Promise<TestUser> => {
      const { id } = await service.user(name);
      return { id, token: await service.token(id, { lifetimeMs: 7 * 24 * 3_600_000 }) };
    };
    const [owner, viewer, tokenOwner] = [await user('Olga'), await user('Vera'), await user('Kate')];
    const appId = await makeApp(service, owner, { viewer });
    const extensionPointId = await makeExtensionPoint(service, owner, appId);
    const publishers: Publisher[] = [];
    for (let at = 0; at < publisherCount; at++) {
      const publisher = { ...(await user(`Paul ${at}`)), guestKey: `guests/${at}` };
      await makeGuest(service, owner, appId, publisher.guestKey, publisher);
      publishers.push(publisher);
    }
    await makeMember(service, owner, appId, 'viewer', tokenOwner);
    return { appId, extensionPointId, owner, viewer, tokenOwner, visitor: await user('Vic'), publishers };
  } finally {
    await service.close();
  }
}

/**
 * The module that a publisher publishes in its n-th publish. All publishers publish the same module in every even one, at about the
 * same time. Every fourth is too large for the nodes' content cache.
 */
export function moduleOf(number: number, publisher: number): Buffer {
  if (number % 2 === 1) return tinyModule(1_000_000 + number * 100 + publisher);
  return number % 4 === 0 ? largeModule(90_000 + number) : tinyModule(number);
}

export function addressOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}
