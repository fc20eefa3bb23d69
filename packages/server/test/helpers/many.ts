import { newId, noProvenancePolicy } from '@tenon/protocol';
import { noLimits } from '../../src/db/records.ts';
import type { TestService, TestUser } from './service.ts';

/** Fills an application behind the rates' and quotas' back. */

export async function addExtensionPoints(
  { store }: TestService,
  appId: string,
  count: number,
  schemaJson: string,
): Promise<void> {
  const times = { createdAtMs: 1, updatedAtMs: 1 };
  await store.write(async (tx) => {
    for (let number = 0; number < count; number++) {
      const point = { id: newId('extensionPoint'), appId: appId as never, name: `e${number}`, schemaJson };
      await tx.insertExtensionPoint({
        ...point,
        requiresApproval: false,
        limits: noLimits,
        provenance: noProvenancePolicy,
        simulationsRevision: 0,
        minVersionAgeSeconds: 0,
        rollOut: null,
        imports: {},
        ...times,
      });
    }
  });
}

export async function addGuests({ store }: TestService, appId: string, count: number, user?: TestUser): Promise<void> {
  await store.write(async (tx) => {
    for (let number = 0; number < count; number++) {
      const id = newId('guest');
      await tx.insertGuest({
        id,
        appId: appId as never,
        guestKey: `k${number}`,
        label: null,
        note: null,
        ring: null,
        createdAtMs: 1,
      });
      if (user !== undefined) await tx.putGuestUser({ guestId: id, userId: user.id, acceptedAtMs: 1 });
    }
  });
}
